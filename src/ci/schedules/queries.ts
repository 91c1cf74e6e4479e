import type { Instant } from '../../base/clock.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { deleteFound } from '../../store/delete-found.ts'
import { listPage } from '../../store/pages.ts'
import type { ChangesOf, Db, NewRowOf, RowOf } from '../../store/schema.ts'

export type ScheduleRow = RowOf<'ci_schedules'>
export type ScheduleVariableRow = RowOf<'ci_schedule_variables'>

export function listSchedules(
  db: Db,
  projectId: number,
  active: boolean | undefined,
  page: OffsetPage,
): Promise<Paged<ScheduleRow>> {
  const query = db
    .selectFrom('ci_schedules')
    .selectAll()
    .where('project_id', '=', projectId)
    .$if(active !== undefined, (query) => query.where('active', '=', active ? 1 : 0))
    .orderBy('id')
  return listPage(db, query, page)
}

export async function countSchedules(db: Db, projectId: number): Promise<number> {
  const row = await db
    .selectFrom('ci_schedules')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('project_id', '=', projectId)
    .executeTakeFirstOrThrow()
  return row.count
}

export async function findSchedule(db: Db, id: number): Promise<ScheduleRow | undefined> {
  return await db.selectFrom('ci_schedules').selectAll().where('id', '=', id).executeTakeFirst()
}

/** Schedules whose time has come. */
export async function listDueSchedules(db: Db, now: Instant, most: number): Promise<ScheduleRow[]> {
  return await db
    .selectFrom('ci_schedules')
    .selectAll()
    .where('active', '=', 1)
    .where('next_run_at', '<=', now)
    .orderBy('next_run_at')
    .limit(most)
    .execute()
}

export async function insertSchedule(db: Db, row: NewRowOf<'ci_schedules'>): Promise<ScheduleRow> {
  return await db.insertInto('ci_schedules').values(row).returningAll().executeTakeFirstOrThrow()
}

export async function updateSchedule(
  db: Db,
  id: number,
  values: ChangesOf<'ci_schedules'>,
): Promise<ScheduleRow> {
  return await db
    .updateTable('ci_schedules')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** Changes a schedule that is due since a moment; false when somebody was faster. */
export async function claimRun(
  db: Db,
  id: number,
  at: Instant,
  next: Instant | null,
): Promise<boolean> {
  const done = await db
    .updateTable('ci_schedules')
    .set({ next_run_at: next })
    .where('id', '=', id)
    .where('next_run_at', '=', at)
    .executeTakeFirst()
  return done.numUpdatedRows > 0n
}

/** Notes that somebody waits for a run by hand; gives the number of the play. */
export async function insertPlay(db: Db, scheduleId: number): Promise<number> {
  const row = await db
    .insertInto('ci_schedule_plays')
    .values({ schedule_id: scheduleId })
    .returning('id')
    .executeTakeFirstOrThrow()
  return row.id
}

/** False when the play had its run before. */
export async function deletePlay(db: Db, id: number): Promise<boolean> {
  const done = await db.deleteFrom('ci_schedule_plays').where('id', '=', id).executeTakeFirst()
  return done.numDeletedRows > 0n
}

export async function deleteSchedule(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('ci_schedules').where('id', '=', id))
}

export async function listScheduleVariables(
  db: Db,
  scheduleId: number,
): Promise<ScheduleVariableRow[]> {
  return await db
    .selectFrom('ci_schedule_variables')
    .selectAll()
    .where('schedule_id', '=', scheduleId)
    .orderBy('key')
    .execute()
}

export async function insertScheduleVariable(
  db: Db,
  row: NewRowOf<'ci_schedule_variables'>,
): Promise<ScheduleVariableRow> {
  return await db
    .insertInto('ci_schedule_variables')
    .values(row)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updateScheduleVariable(
  db: Db,
  id: number,
  values: ChangesOf<'ci_schedule_variables'>,
): Promise<ScheduleVariableRow> {
  return await db
    .updateTable('ci_schedule_variables')
    .set(values)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function deleteScheduleVariable(db: Db, id: number): Promise<void> {
  await deleteFound(db.deleteFrom('ci_schedule_variables').where('id', '=', id))
}

/** The pipelines that a schedule has started, by `sort` of their ids. */
export function selectSchedulePipelines(db: Db, scheduleId: number, sort: 'asc' | 'desc') {
  return db
    .selectFrom('pipelines')
    .selectAll()
    .where('schedule_id', '=', scheduleId)
    .orderBy('id', sort)
}
