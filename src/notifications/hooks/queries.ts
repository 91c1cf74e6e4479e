import { sql } from 'kysely'
import type { SourceRef } from '../../access/sources.ts'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { namespacesAbove } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type HookRow = RowOf<'webhooks'>
export type DeliveryRow = RowOf<'webhook_deliveries'>

/** Whose hook it is. */
export type HookOwner = SourceRef | { readonly type: 'system' }

function hooksOf(db: Db, owner: HookOwner) {
  const query = db.selectFrom('webhooks').selectAll().where('kind', '=', owner.type)
  if (owner.type === 'system') return query
  return query.where(owner.type === 'project' ? 'project_id' : 'group_id', '=', owner.id)
}

export function listHookRows(db: Db, owner: HookOwner, page: OffsetPage) {
  return listPage(db, hooksOf(db, owner).orderBy('id'), page)
}

export function findHook(db: Db, owner: HookOwner, id: number): Promise<HookRow | undefined> {
  return hooksOf(db, owner).where('id', '=', id).executeTakeFirst()
}

export function findHookById(db: Db, id: number): Promise<HookRow | undefined> {
  return db.selectFrom('webhooks').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function countHooks(db: Db, owner: HookOwner): Promise<number> {
  const row = await hooksOf(db, owner)
    .clearSelect()
    .select((is) => is.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

/** Hooks that ask for a flag: of the project, of the groups above it, and of the instance. */
export async function listWantingHooks(
  db: Db,
  wanted: {
    readonly projectId: number | null
    readonly namespaceId: number | null
    readonly flag: string | null
    readonly system: boolean
  },
): Promise<HookRow[]> {
  const { projectId, namespaceId, flag, system } = wanted
  // As a reference: a word of raw SQL counts as a table, and there is one of this name, to which every push adds.
  const events = sql.ref('webhooks.events')
  const asks = sql<boolean>`(${flag} IS NULL OR EXISTS
    (SELECT 1 FROM json_each(${events}) WHERE json_each.value = ${flag}))`
  const asking = db.selectFrom('webhooks').selectAll().where(asks)
  const project =
    projectId === null ? [] : await asking.where('project_id', '=', projectId).execute()
  const group =
    namespaceId === null
      ? []
      : await asking.where('group_id', 'in', namespacesAbove(namespaceId)).execute()
  const instance = system ? await asking.where('kind', '=', sql.lit('system')).execute() : []
  return [...project, ...group, ...instance]
}

export function insertHook(db: Db, values: NewRowOf<'webhooks'>): Promise<HookRow> {
  return db.insertInto('webhooks').values(values).returningAll().executeTakeFirstOrThrow()
}

export function updateHook(db: Db, id: number, changes: ChangesOf<'webhooks'>): Promise<HookRow> {
  return db
    .updateTable('webhooks')
    .set(changes)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteHook(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('webhooks').where('id', '=', id))
}

/** Counts a failure, or forgets them all; gives how many there are now. */
export async function countFailure(db: Db, id: number, failed: boolean): Promise<number> {
  const row = await db
    .updateTable('webhooks')
    .set(failed ? { failures: sql`failures + 1` } : { failures: 0, disabled_until: null })
    .where('id', '=', id)
    .returning('failures')
    .executeTakeFirst()
  return row?.failures ?? 0
}

export async function pauseHook(db: Db, id: number, until: Instant): Promise<void> {
  await db.updateTable('webhooks').set({ disabled_until: until }).where('id', '=', id).execute()
}

export async function insertDelivery(
  db: Db,
  values: NewRowOf<'webhook_deliveries'>,
): Promise<DeliveryRow> {
  return db.insertInto('webhook_deliveries').values(values).returningAll().executeTakeFirstOrThrow()
}

/** The hooks that were called for an event, or of what followed from it. */
export async function listHooksCalled(db: Db, eventUuid: string): Promise<number[]> {
  const rows = await db
    .selectFrom('webhook_deliveries')
    .select('webhook_id')
    .distinct()
    .where('event_uuid', '=', eventUuid)
    .execute()
  return rows.map((row) => row.webhook_id)
}

export function findDelivery(db: Db, id: number): Promise<DeliveryRow | undefined> {
  return db.selectFrom('webhook_deliveries').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function updateDelivery(
  db: Db,
  id: number,
  changes: ChangesOf<'webhook_deliveries'>,
): Promise<void> {
  await db.updateTable('webhook_deliveries').set(changes).where('id', '=', id).execute()
}

/** What was delivered, newest first; `statuses` are texts or their first digit, such as `5`. */
export function listDeliveryRows(
  db: Db,
  hookId: number,
  filter: { readonly since: Instant; readonly statuses: readonly string[] | undefined },
  page: OffsetPage,
) {
  const query = db
    .selectFrom('webhook_deliveries')
    .selectAll()
    .where('webhook_id', '=', hookId)
    .where('response_status', 'is not', null)
    .where('created_at', '>=', filter.since)
    .orderBy('id', 'desc')
  const { statuses } = filter
  if (!statuses) return listPage(db, query, page)
  const chosen = query.where((is) =>
    is.or(
      statuses.map((status) =>
        status.length === 1
          ? is('response_status', 'like', `${status}__`)
          : is('response_status', '=', status),
      ),
    ),
  )
  return listPage(db, chosen, page)
}

/** Deletes what was delivered before a moment, so many at most; says whether there may be more. */
export async function deleteOldDeliveries(db: Db, before: Instant, most: number): Promise<boolean> {
  const old = db
    .selectFrom('webhook_deliveries')
    .select('id')
    .where('created_at', '<', before)
    .limit(most)
  const deleted = await db
    .deleteFrom('webhook_deliveries')
    .where('id', 'in', old)
    .executeTakeFirst()
  return deleted.numDeletedRows === BigInt(most)
}
