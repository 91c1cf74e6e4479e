import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'
import { containing } from '../../store/search.ts'
import { RESOLVED } from './words.ts'

export type AlertRow = RowOf<'alerts'>

export interface AlertFilter {
  readonly statuses?: readonly number[] | undefined
  readonly search?: string | undefined
  readonly assignee?: string | undefined
  readonly iid?: number | undefined
}

export type AlertColumn =
  | 'started_at'
  | 'ended_at'
  | 'created_at'
  | 'updated_at'
  | 'events'
  | 'severity'
  | 'status'

export interface AlertOrder {
  readonly column: AlertColumn
  readonly direction: 'asc' | 'desc'
}

function alertsOf(db: Db, projectId: number, filter: AlertFilter) {
  let query = db.selectFrom('alerts').selectAll('alerts').where('project_id', '=', projectId)
  if (filter.statuses && filter.statuses.length > 0) {
    query = query.where('status', 'in', filter.statuses)
  }
  if (filter.iid !== undefined) query = query.where('iid', '=', filter.iid)
  const { assignee, search } = filter
  if (assignee !== undefined) {
    query = query.where((where) =>
      where(
        'assignee_id',
        '=',
        where.selectFrom('users').select('users.id').where('users.username', '=', assignee),
      ),
    )
  }
  if (search) {
    const like = containing(search)
    const found = (['title', 'description', 'monitoring_tool', 'service'] as const).map(
      (column) => sql<boolean>`${sql.ref(`alerts.${column}`)} LIKE ${like} ESCAPE '\\'`,
    )
    query = query.where((where) => where.or(found))
  }
  return query
}

export function listAlerts(
  db: Db,
  projectId: number,
  filter: AlertFilter,
  order: AlertOrder,
  page: OffsetPage,
) {
  const query = alertsOf(db, projectId, filter)
    .orderBy(`alerts.${order.column}`, order.direction)
    .orderBy('alerts.id', order.direction)
  return listPage(db, query, page)
}

/** How many alerts have each status. */
export async function countAlertStatuses(db: Db, projectId: number, filter: AlertFilter) {
  return await alertsOf(db, projectId, filter)
    .clearSelect()
    .select('status')
    .select((from) => from.fn.countAll<number>().as('count'))
    .groupBy('status')
    .execute()
}

export function findAlert(db: Db, projectId: number, iid: number): Promise<AlertRow | undefined> {
  return db
    .selectFrom('alerts')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('iid', '=', iid)
    .executeTakeFirst()
}

export function findAlertById(db: Db, id: number): Promise<AlertRow | undefined> {
  return db.selectFrom('alerts').selectAll().where('id', '=', id).executeTakeFirst()
}

/** The alert that a project got last. */
export function findNewestAlert(db: Db, projectId: number): Promise<AlertRow | undefined> {
  return db
    .selectFrom('alerts')
    .selectAll()
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Alerts that an incident stands for. */
export function listAlertsOfIssue(db: Db, issueId: number): Promise<AlertRow[]> {
  return db.selectFrom('alerts').selectAll().where('issue_id', '=', issueId).execute()
}

/** The alerts of these fingerprints that are not resolved. */
export function listOpenAlerts(db: Db, projectId: number, fingerprints: readonly string[]) {
  return db
    .selectFrom('alerts')
    .select(['id', 'iid', 'title', 'fingerprint', 'issue_id'])
    .where('project_id', '=', projectId)
    .where('status', '!=', sql.lit(RESOLVED))
    .where('fingerprint', 'is not', null)
    .where(
      sql<boolean>`fingerprint IN (SELECT value FROM json_each(${JSON.stringify(fingerprints)}))`,
    )
    .execute()
}

export async function insertAlert(
  db: Db,
  alert: NewRowOf<'alerts'>,
  payload: string,
): Promise<number> {
  const { id } = await db
    .insertInto('alerts')
    .values(alert)
    .returning('id')
    .executeTakeFirstOrThrow()
  await db.insertInto('alert_payloads').values({ alert_id: id, payload }).execute()
  return id
}

/** Counts further events of several alerts in one statement. */
export async function countEvents(db: Db, events: ReadonlyMap<number, number>): Promise<void> {
  if (events.size === 0) return
  await sql`UPDATE alerts SET events = events + found.count
    FROM (SELECT value ->> 0 AS id, value ->> 1 AS count FROM json_each(${JSON.stringify([...events])})) AS found
    WHERE alerts.id = found.id`.execute(db)
}

export async function updateAlert(
  db: Db,
  id: number,
  changes: ChangesOf<'alerts'>,
  now: Instant,
): Promise<AlertRow> {
  return await db
    .updateTable('alerts')
    .set({ ...changes, updated_at: now })
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function findAlertPayload(db: Db, alertId: number): Promise<string> {
  const row = await db
    .selectFrom('alert_payloads')
    .select('payload')
    .where('alert_id', '=', alertId)
    .executeTakeFirst()
  return row?.payload ?? '{}'
}

/** What was sent for these alerts, where it has no more bytes than this. */
export async function listAlertPayloads(db: Db, ids: readonly number[], mostBytes: number) {
  if (ids.length === 0) return []
  return await db
    .selectFrom('alert_payloads')
    .select(['alert_id', 'payload'])
    .where('alert_id', 'in', ids)
    .where(sql<boolean>`octet_length(payload) <= ${mostBytes}`)
    .execute()
}

/** What alerts show of their issues, by id. */
export async function listIssuesOfAlerts(db: Db, ids: readonly number[]) {
  if (ids.length === 0) return []
  return await db.selectFrom('issues').select(['id', 'iid']).where('id', 'in', ids).execute()
}

/** The environments of a project that have one of these names. */
export async function listEnvironmentsNamed(db: Db, projectId: number, names: readonly string[]) {
  if (names.length === 0) return []
  return await db
    .selectFrom('environments')
    .select(['id', 'name'])
    .where('project_id', '=', projectId)
    .where('name', 'in', names)
    .execute()
}
