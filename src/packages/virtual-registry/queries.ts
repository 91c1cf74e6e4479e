import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, RowOf } from '../../store/schema.ts'
import { containing } from '../../store/search.ts'

export type RegistryRow = RowOf<'virtual_registries'>
export type UpstreamRow = RowOf<'virtual_upstreams'>

export function findRegistry(db: Db, id: number): Promise<RegistryRow | undefined> {
  return cachedQuery(db, `virtual registry ${id}`, (db) =>
    db.selectFrom('virtual_registries').selectAll().where('id', '=', id).executeTakeFirst(),
  )
}

export function listRegistries(db: Db, groupId: number): Promise<RegistryRow[]> {
  return db
    .selectFrom('virtual_registries')
    .selectAll()
    .where('group_id', '=', groupId)
    .orderBy('id')
    .execute()
}

export function insertRegistry(db: Db, values: Omit<RegistryRow, 'id'>): Promise<RegistryRow> {
  return db.insertInto('virtual_registries').values(values).returningAll().executeTakeFirstOrThrow()
}

export async function updateRegistry(
  db: Db,
  id: number,
  changes: Partial<Pick<RegistryRow, 'name' | 'description' | 'updated_at'>>,
): Promise<void> {
  await db.updateTable('virtual_registries').set(changes).where('id', '=', id).execute()
}

/** Deletes a registry with the upstreams that no other one uses. */
export async function deleteRegistry(db: Db, id: number): Promise<void> {
  const own = await listExclusiveUpstreams(db, id)
  await deleteFound(db.deleteFrom('virtual_registries').where('id', '=', id))
  if (own.length > 0) await db.deleteFrom('virtual_upstreams').where('id', 'in', own).execute()
}

/** Ids of the upstreams of a registry that no other one uses. */
export async function listExclusiveUpstreams(db: Db, registryId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('virtual_registry_upstreams as link')
    .select('link.upstream_id')
    .where('link.registry_id', '=', registryId)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('virtual_registry_upstreams as other')
            .select('other.id')
            .whereRef('other.upstream_id', '=', 'link.upstream_id')
            .where('other.registry_id', '<>', registryId),
        ),
      ),
    )
    .execute()
  return rows.map((row) => row.upstream_id)
}

export function findUpstream(db: Db, id: number): Promise<UpstreamRow | undefined> {
  return db.selectFrom('virtual_upstreams').selectAll().where('id', '=', id).executeTakeFirst()
}

export function listUpstreams(db: Db, groupId: number, name: string | undefined, page: OffsetPage) {
  const query = db
    .selectFrom('virtual_upstreams')
    .selectAll()
    .where('group_id', '=', groupId)
    .orderBy('id')
  if (!name) return listPage(db, query, page)
  return listPage(db, query.where(sql<boolean>`name LIKE ${containing(name)} ESCAPE '\\'`), page)
}

/** The upstreams of a group at an address, whatever its scheme. */
export function listUpstreamsAt(db: Db, groupId: number, address: string): Promise<UpstreamRow[]> {
  return db
    .selectFrom('virtual_upstreams')
    .selectAll()
    .where('group_id', '=', groupId)
    .where('url', 'in', [`http://${address}`, `https://${address}`])
    .execute()
}

export function insertUpstream(db: Db, values: Omit<UpstreamRow, 'id'>): Promise<UpstreamRow> {
  return db.insertInto('virtual_upstreams').values(values).returningAll().executeTakeFirstOrThrow()
}

export async function updateUpstream(
  db: Db,
  id: number,
  changes: Partial<Omit<UpstreamRow, 'id' | 'group_id' | 'created_at'>>,
): Promise<void> {
  await db.updateTable('virtual_upstreams').set(changes).where('id', '=', id).execute()
}

/** Deletes an upstream; those after it move up in each registry. */
export async function deleteUpstream(db: Db, id: number): Promise<void> {
  for (const link of await listLinksOf(db, id)) await deleteLink(db, link.id)
  await deleteFound(db.deleteFrom('virtual_upstreams').where('id', '=', id))
}

export function findLink(db: Db, id: number) {
  return db
    .selectFrom('virtual_registry_upstreams')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst()
}

export function listLinksOf(db: Db, upstreamId: number) {
  return db
    .selectFrom('virtual_registry_upstreams')
    .selectAll()
    .where('upstream_id', '=', upstreamId)
    .orderBy('id')
    .execute()
}

/** The upstreams of a registry in their order, each with its place. */
export function listLinks(db: Db, registryId: number) {
  return cachedQuery(db, `upstreams of virtual registry ${registryId}`, (db) =>
    db
      .selectFrom('virtual_registry_upstreams as link')
      .innerJoin('virtual_upstreams as upstream', 'upstream.id', 'link.upstream_id')
      .selectAll('upstream')
      .select(['link.id as link_id', 'link.position'])
      .where('link.registry_id', '=', registryId)
      .orderBy('link.position')
      .execute(),
  )
}

export async function insertLink(
  db: Db,
  registryId: number,
  upstreamId: number,
): Promise<{ id: number; registry_id: number; upstream_id: number; position: number }> {
  const { last } = await db
    .selectFrom('virtual_registry_upstreams')
    .select((is) => is.fn.max('position').as('last'))
    .where('registry_id', '=', registryId)
    .executeTakeFirstOrThrow()
  return await db
    .insertInto('virtual_registry_upstreams')
    .values({ registry_id: registryId, upstream_id: upstreamId, position: (last ?? 0) + 1 })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Takes an upstream from a registry; those after it move up. */
export async function deleteLink(db: Db, id: number): Promise<void> {
  const link = await findLink(db, id)
  if (!link) return
  await deleteFound(db.deleteFrom('virtual_registry_upstreams').where('id', '=', id))
  await db
    .updateTable('virtual_registry_upstreams')
    .set((is) => ({ position: is('position', '-', 1) }))
    .where('registry_id', '=', link.registry_id)
    .where('position', '>', link.position)
    .execute()
}

/** Gives the upstreams of a registry their places, in the order of these ids of links. */
export async function saveOrder(db: Db, ids: readonly number[]): Promise<void> {
  for (const [at, id] of ids.entries()) {
    await db
      .updateTable('virtual_registry_upstreams')
      .set({ position: at + 1 })
      .where('id', '=', id)
      .execute()
  }
}

/** Forgets what was fetched from upstreams. */
export async function deleteEntriesOf(db: Db, upstreamIds: readonly number[]): Promise<void> {
  if (upstreamIds.length === 0) return
  await db
    .deleteFrom('virtual_cache_entries')
    .where('upstream_id', 'in', [...upstreamIds])
    .execute()
}

export async function countRegistries(db: Db, groupId: number): Promise<number> {
  const { count } = await db
    .selectFrom('virtual_registries')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('group_id', '=', groupId)
    .executeTakeFirstOrThrow()
  return count
}

export function findPolicy(db: Db, groupId: number) {
  return db
    .selectFrom('virtual_cleanup_policies')
    .selectAll()
    .where('group_id', '=', groupId)
    .executeTakeFirst()
}

/** What a cleanup policy says. */
export interface PolicyValues {
  readonly enabled: boolean
  readonly cadence: number
  readonly keep_n_days_after_download: number
  readonly notify_on_success: boolean
  readonly notify_on_failure: boolean
  readonly next_run_at: Instant | null
}

export async function insertPolicy(db: Db, groupId: number, values: PolicyValues, now: Instant) {
  await db
    .insertInto('virtual_cleanup_policies')
    .values({ group_id: groupId, ...values, created_at: now, updated_at: now })
    .execute()
}

export async function updatePolicy(
  db: Db,
  groupId: number,
  values: Partial<PolicyValues> & { readonly last_run_at?: Instant },
  now: Instant,
): Promise<void> {
  await db
    .updateTable('virtual_cleanup_policies')
    .set({ ...values, updated_at: now })
    .where('group_id', '=', groupId)
    .execute()
}

export async function deletePolicy(db: Db, groupId: number): Promise<boolean> {
  const gone = await db
    .deleteFrom('virtual_cleanup_policies')
    .where('group_id', '=', groupId)
    .executeTakeFirst()
  return gone.numDeletedRows > 0n
}

export function listDuePolicies(db: Db, now: Instant) {
  return db
    .selectFrom('virtual_cleanup_policies')
    .selectAll()
    .where('enabled', '=', 1)
    .where('next_run_at', '<=', now)
    .orderBy('next_run_at')
    .execute()
}
