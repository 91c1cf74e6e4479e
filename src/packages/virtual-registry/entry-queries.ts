import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, RowOf } from '../../store/schema.ts'
import { containing } from '../../store/search.ts'

export type EntryRow = RowOf<'virtual_cache_entries'>

/** What upstreams have of a path. */
export function listEntriesAt(
  db: Db,
  upstreamIds: readonly number[],
  path: string,
): Promise<EntryRow[]> {
  return cachedQuery(db, `fetched from ${upstreamIds.join()} ${path}`, (db) =>
    db
      .selectFrom('virtual_cache_entries')
      .selectAll()
      .where('upstream_id', 'in', [...upstreamIds])
      .where('relative_path', '=', path)
      .execute(),
  )
}

export function findEntry(db: Db, upstreamId: number, path: string): Promise<EntryRow | undefined> {
  return db
    .selectFrom('virtual_cache_entries')
    .selectAll()
    .where('upstream_id', '=', upstreamId)
    .where('relative_path', '=', path)
    .executeTakeFirst()
}

/** Some path that an upstream is known to have. */
export async function findSomePath(db: Db, upstreamId: number): Promise<string | undefined> {
  const row = await db
    .selectFrom('virtual_cache_entries')
    .select('relative_path')
    .where('upstream_id', '=', upstreamId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.relative_path
}

export async function saveEntry(db: Db, values: Omit<EntryRow, 'id'>): Promise<EntryRow> {
  const { upstream_id: _upstream, relative_path: _path, created_at: _created, ...changes } = values
  return await db
    .insertInto('virtual_cache_entries')
    .values(values)
    .onConflict((on) => on.columns(['upstream_id', 'relative_path']).doUpdateSet(changes))
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function saveChecked(db: Db, id: number, now: Instant): Promise<void> {
  await db
    .updateTable('virtual_cache_entries')
    .set({ upstream_checked_at: now })
    .where('id', '=', id)
    .execute()
}

export async function saveDownload(db: Db, entryId: number, now: Instant): Promise<void> {
  await db
    .insertInto('virtual_cache_downloads')
    .values({ entry_id: entryId, downloads_count: 1, downloaded_at: now })
    .onConflict((on) =>
      on.column('entry_id').doUpdateSet((is) => ({
        downloads_count: is('virtual_cache_downloads.downloads_count', '+', 1),
        downloaded_at: now,
      })),
    )
    .execute()
}

export async function deleteEntry(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('virtual_cache_entries').where('id', '=', id))
}

/** What was fetched from an upstream, the newest first. */
export function listEntries(
  db: Db,
  upstreamId: number,
  search: string | undefined,
  page: OffsetPage,
) {
  const query = db
    .selectFrom('virtual_cache_entries as entry')
    .leftJoin('virtual_cache_downloads as download', 'download.entry_id', 'entry.id')
    .selectAll('entry')
    .select(['download.downloads_count', 'download.downloaded_at'])
    .where('entry.upstream_id', '=', upstreamId)
    .orderBy('entry.id', 'desc')
  if (!search) return listPage(db, query, page)
  const found = sql<boolean>`entry.relative_path LIKE ${containing(search)} ESCAPE '\\'`
  return listPage(db, query.where(found), page)
}

/** Forgets what nobody has downloaded since a moment, some at a time. */
export async function deleteUnusedEntries(
  db: Db,
  groupId: number,
  before: Instant,
  most: number,
): Promise<number> {
  const gone = await db
    .deleteFrom('virtual_cache_entries')
    .where('id', 'in', (is) =>
      is
        .selectFrom('virtual_cache_entries as entry')
        .innerJoin('virtual_upstreams as upstream', 'upstream.id', 'entry.upstream_id')
        .leftJoin('virtual_cache_downloads as download', 'download.entry_id', 'entry.id')
        .select('entry.id')
        .where('upstream.group_id', '=', groupId)
        .where((where) =>
          where(where.fn.coalesce('download.downloaded_at', 'entry.created_at'), '<', before),
        )
        .limit(most),
    )
    .executeTakeFirst()
  return Number(gone.numDeletedRows)
}

/** The bytes of everything that was fetched. */
export async function cacheBytes(db: Db): Promise<number> {
  const row = await db.selectFrom('virtual_cache_size').select('bytes').executeTakeFirst()
  return row?.bytes ?? 0
}

/** What nobody has downloaded for longest, or what was fetched longest ago and never downloaded. */
export function listLeastUsed(db: Db, limit: number): Promise<{ id: number; size: number }[]> {
  return db
    .selectFrom('virtual_cache_entries as entry')
    .leftJoin('virtual_cache_downloads as download', 'download.entry_id', 'entry.id')
    .select(['entry.id', 'entry.size'])
    .orderBy((is) => is.fn.coalesce('download.downloaded_at', 'entry.updated_at'))
    .orderBy('entry.id')
    .limit(limit)
    .execute()
}

export async function deleteEntries(db: Db, ids: readonly number[]): Promise<void> {
  await db
    .deleteFrom('virtual_cache_entries')
    .where('id', 'in', [...ids])
    .execute()
}
