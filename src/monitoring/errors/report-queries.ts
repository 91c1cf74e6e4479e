import { sql } from 'kysely'
import type { Db, NewRowOf } from '../../store/schema.ts'

export async function insertReports(
  db: Db,
  rows: readonly NewRowOf<'error_reports'>[],
): Promise<void> {
  await db.insertInto('error_reports').values(rows).execute()
}

/** The oldest reports of a project, without their payloads. */
export function listReports(db: Db, projectId: number, most: number) {
  return db
    .selectFrom('error_reports')
    .select(['id', 'received_at', 'event'])
    .where('project_id', '=', projectId)
    .orderBy('id')
    .limit(most)
    .execute()
}

/** The packed payload of a report; an error when there is no such report. */
export async function readReportPayload(db: Db, id: number): Promise<Buffer> {
  const { payload } = await db
    .selectFrom('error_reports')
    .select('payload')
    .where('id', '=', id)
    .executeTakeFirstOrThrow()
  return payload
}

/** Removes the reports of a project up to one. */
export async function deleteReports(db: Db, projectId: number, last: number): Promise<void> {
  await db
    .deleteFrom('error_reports')
    .where('project_id', '=', projectId)
    .where('id', '<=', last)
    .execute()
}

/** How many reports of a project wait, counted up to `most`. */
export async function countReports(db: Db, projectId: number, most: number): Promise<number> {
  const waiting = db
    .selectFrom('error_reports')
    .select('id')
    .where('project_id', '=', projectId)
    .limit(most)
  const row = await db
    .selectFrom(waiting.as('waiting'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirst()
  return row?.count ?? 0
}

/** Remembers the ids of events; gives those that were not known. */
export async function insertEventIds(
  db: Db,
  projectId: number,
  ids: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ event_id: string }>`
    INSERT INTO error_event_ids (project_id, event_id)
    SELECT ${projectId}, value FROM json_each(${JSON.stringify(ids)}) WHERE true ORDER BY key
    ON CONFLICT DO NOTHING RETURNING event_id`.execute(db)
  return new Set(rows.map((row) => row.event_id))
}

/** Forgets all but the latest ids of a project. */
export async function deleteOldEventIds(db: Db, projectId: number, most: number): Promise<void> {
  const last = db
    .selectFrom('error_event_ids')
    .select('id')
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .limit(1)
    .offset(most)
  await db
    .deleteFrom('error_event_ids')
    .where('project_id', '=', projectId)
    .where('id', '<=', last)
    .execute()
}
