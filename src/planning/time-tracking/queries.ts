import { sql } from 'kysely'
import type { Work } from '../../store/schema/issues.ts'
import type { Db, NewRowOf } from '../../store/schema.ts'

export async function insertTimelog(db: Db, log: NewRowOf<'timelogs'>): Promise<void> {
  await db.insertInto('timelogs').values(log).execute()
}

/** Seconds spent on an issue or merge request so far. */
export async function sumTime(db: Db, type: Work, subjectId: number): Promise<number> {
  const row = await db
    .selectFrom('timelogs')
    .select((expression) => expression.fn.sum<number | null>('seconds').as('seconds'))
    .where('subject_type', '=', type)
    .where('subject_id', '=', subjectId)
    .executeTakeFirstOrThrow()
  return row.seconds ?? 0
}

export async function deleteTimelogs(db: Db, type: Work, subjectId: number): Promise<void> {
  await db
    .deleteFrom('timelogs')
    .where('subject_type', '=', type)
    .where('subject_id', '=', subjectId)
    .execute()
}

/** Gives one thing the time that was spent on another too. */
export async function insertTimeOf(
  db: Db,
  type: Work,
  fromId: number,
  toId: number,
): Promise<void> {
  await sql`INSERT INTO timelogs (subject_type, subject_id, user_id, seconds, summary, spent_at, created_at)
    SELECT subject_type, ${toId}, user_id, seconds, summary, spent_at, created_at FROM timelogs
    WHERE subject_type = ${type} AND subject_id = ${fromId} ORDER BY id`.execute(db)
}
