import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { EscalationStatus } from '../../store/schema/alerts.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type FollowUpRow = RowOf<'alert_follow_ups'>
export type IncidentSettingsRow = RowOf<'incident_management_settings'>

export function findSettingsRow(
  db: Db,
  projectId: number,
): Promise<IncidentSettingsRow | undefined> {
  return db
    .selectFrom('incident_management_settings')
    .selectAll()
    .where('project_id', '=', projectId)
    .executeTakeFirst()
}

export async function saveSettingsRow(
  db: Db,
  row: NewRowOf<'incident_management_settings'>,
): Promise<void> {
  const { project_id: _, ...changes } = row
  await db
    .insertInto('incident_management_settings')
    .values(row)
    .onConflict((conflict) => conflict.column('project_id').doUpdateSet(changes))
    .execute()
}

/** One that repeats what waits already is left out. */
export async function insertFollowUps(
  db: Db,
  rows: readonly NewRowOf<'alert_follow_ups'>[],
): Promise<void> {
  await sql`INSERT INTO alert_follow_ups (project_id, alert_id, action)
    SELECT value ->> 'project_id', value ->> 'alert_id', value ->> 'action'
    FROM json_each(${JSON.stringify(rows)}) AS one
    WHERE value ->> 'action' <> 'repeated' OR NOT EXISTS (SELECT 1 FROM alert_follow_ups known
      WHERE known.alert_id = value ->> 'alert_id')
    ORDER BY one.key`.execute(db)
}

/** Takes the oldest follow-ups of a project off the list, in their order. */
export async function takeFollowUps(
  db: Db,
  projectId: number,
  most: number,
): Promise<FollowUpRow[]> {
  const rows = await db
    .deleteFrom('alert_follow_ups')
    .where('id', 'in', (where) =>
      where
        .selectFrom('alert_follow_ups')
        .select('id')
        .where('project_id', '=', projectId)
        .orderBy('id')
        .limit(most),
    )
    .returningAll()
    .execute()
  return rows.sort((one, other) => one.id - other.id)
}

export async function isFollowUpWaiting(db: Db, projectId: number): Promise<boolean> {
  const row = await db
    .selectFrom('alert_follow_ups')
    .select('id')
    .where('project_id', '=', projectId)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** The escalation of an incident; one that nobody touched was triggered when the incident was opened. */
export function findEscalation(db: Db, issueId: number) {
  return db
    .selectFrom('incident_escalations')
    .selectAll()
    .where('issue_id', '=', issueId)
    .executeTakeFirst()
}

export async function saveEscalation(
  db: Db,
  issueId: number,
  status: EscalationStatus,
  now: Instant,
): Promise<void> {
  await db
    .insertInto('incident_escalations')
    .values({ issue_id: issueId, status, updated_at: now })
    .onConflict((conflict) => conflict.column('issue_id').doUpdateSet({ status, updated_at: now }))
    .execute()
}
