import { sql } from 'kysely'
import type { Instant } from '../base/clock.ts'
import type { Db, RowOf } from '../store/schema.ts'

export type TaskRow = RowOf<'tasks'>

type NewTask = Pick<TaskRow, 'name' | 'payload' | 'run_at' | 'unique_key' | 'created_at'>

/**
 * One that waits under the same key is enough; it runs as early as either wanted. Written in SQL, since most changes add
 * one: to build it anew each time takes longer than to run it.
 */
export async function insertTask(db: Db, row: NewTask): Promise<void> {
  const { name, payload, run_at, unique_key, created_at } = row
  await sql`
    INSERT INTO tasks (name, payload, run_at, unique_key, created_at)
    VALUES (${name}, ${payload}, ${run_at}, ${unique_key}, ${created_at})
    ON CONFLICT (name, unique_key) WHERE state = 'ready' AND unique_key IS NOT NULL
    DO UPDATE SET run_at = min(run_at, excluded.run_at), payload = excluded.payload`.execute(db)
}

/** A kind of task with room for more. */
export interface Room {
  readonly limit: number
  readonly names: ReadonlySet<string>
}

/** Due tasks that are looked at before those of each kind are asked for by their names, which takes forty times as long. */
const lookedAt = 200

/** Takes due tasks for this process, of each kind as many as there is room for. In a transaction. */
export async function claimTasks(
  db: Db,
  claim: { readonly now: Instant; readonly by: string; readonly rooms: readonly Room[] },
): Promise<TaskRow[]> {
  const { now, by, rooms } = claim
  const due = await listDue(db, now)
  const ids = rooms.flatMap(({ names, limit }) =>
    due
      .filter(({ name }) => names.has(name))
      .slice(0, limit)
      .map(({ id }) => id),
  )
  // Many of one kind may hide those of another.
  const all = due.length < lookedAt ? ids : await listDueOf(db, now, rooms)
  if (all.length === 0) return []
  const { rows } = await sql<TaskRow>`
    UPDATE tasks SET state = 'running', locked_at = ${now}, locked_by = ${by}, attempts = attempts + 1
    WHERE id IN (SELECT value FROM json_each(${JSON.stringify(all)}))
    RETURNING *`.execute(db)
  return rows.sort((one, other) => one.run_at.localeCompare(other.run_at) || one.id - other.id)
}

/** The tasks that are due first. */
async function listDue(db: Db, now: Instant) {
  const { rows } = await sql<{ id: number; name: string }>`
    SELECT id, name FROM tasks WHERE state = 'ready' AND run_at <= ${now}
    ORDER BY run_at, id LIMIT ${sql.lit(lookedAt)}`.execute(db)
  return rows
}

async function listDueOf(db: Db, now: Instant, rooms: readonly Room[]): Promise<number[]> {
  const ids: number[] = []
  for (const { names, limit } of rooms) {
    const { rows } = await sql<{ id: number }>`
      SELECT id FROM tasks INDEXED BY tasks_by_name
      WHERE state = 'ready' AND run_at <= ${now}
        AND name IN (SELECT value FROM json_each(${JSON.stringify([...names])}))
      ORDER BY run_at, id LIMIT ${limit}`.execute(db)
    ids.push(...rows.map(({ id }) => id))
  }
  return ids
}

/** Whether a task of any name is due; a read, so that looking costs nearly nothing. */
export async function isAnyTaskDue(db: Db, now: Instant): Promise<boolean> {
  const row = await db
    .selectFrom('tasks')
    .select('id')
    .where('state', '=', sql.lit('ready'))
    .where('run_at', '<=', now)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function deleteTask(db: Db, id: number): Promise<void> {
  await sql`DELETE FROM tasks WHERE id = ${id}`.execute(db)
}

/** Puts a failed task back, unless another with its key waits already and will do the same. */
export async function retryTask(
  db: Db,
  row: TaskRow,
  retry: {
    readonly runAt: Instant
    readonly error: string
    /** What it counts from here on, where that is not what the row says. */
    readonly counts?: { readonly attempts: number; readonly cut_offs: number }
  },
): Promise<void> {
  const updated = await db
    .updateTable('tasks')
    .set({
      ...retry.counts,
      state: 'ready',
      run_at: retry.runAt,
      last_error: retry.error,
      locked_at: null,
      locked_by: null,
    })
    .where('id', '=', row.id)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('tasks as other')
            .select('other.id')
            .where('other.name', '=', row.name)
            .where('other.unique_key', '=', row.unique_key)
            .where('other.state', '=', 'ready'),
        ),
      ),
    )
    .executeTakeFirst()
  if (updated.numUpdatedRows === 0n) await deleteTask(db, row.id)
}

/** What failed for good stays for a while, for a person to see; `run_at` is when it was given up. */
export async function buryTask(
  db: Db,
  id: number,
  { error, at }: { readonly error: string; readonly at: Instant },
): Promise<void> {
  await db
    .updateTable('tasks')
    .set({ state: 'dead', last_error: error, run_at: at, locked_at: null, locked_by: null })
    .where('id', '=', id)
    .execute()
}

/** Forgets what was given up before a moment. */
export async function deleteDeadTasks(db: Db, before: Instant): Promise<void> {
  await db.deleteFrom('tasks').where('state', '=', 'dead').where('run_at', '<', before).execute()
}

/** Tasks that are marked as running, whoever runs them. */
export async function listRunningTasks(db: Db): Promise<TaskRow[]> {
  return db.selectFrom('tasks').selectAll().where('state', '=', 'running').execute()
}

/** Due tasks that no part of this program knows. */
export async function listStrangeTasks(db: Db, names: readonly string[]): Promise<TaskRow[]> {
  return db
    .selectFrom('tasks')
    .selectAll()
    .where('state', '=', 'ready')
    .where('name', 'not in', names)
    .execute()
}

export async function findLastRun(db: Db, name: string): Promise<Instant | undefined> {
  const row = await db
    .selectFrom('schedules')
    .select('last_at')
    .where('name', '=', name)
    .executeTakeFirst()
  return row?.last_at
}

export async function saveLastRun(db: Db, name: string, lastAt: Instant): Promise<void> {
  await db
    .insertInto('schedules')
    .values({ name, last_at: lastAt })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ last_at: lastAt }))
    .execute()
}
