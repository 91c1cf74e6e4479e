import type { Db, Schema } from '../../../store/schema.ts'

/** Where hooks of a pipeline are looked for. */
export function findHookPlace(db: Db, projectId: number) {
  return db
    .selectFrom('projects')
    .select(['id', 'namespace_id'])
    .where('id', '=', projectId)
    .executeTakeFirst()
}

/** The statuses of a pipeline and its jobs that hooks were notified of. */
export function listNotified(db: Db, pipelineId: number) {
  return db
    .selectFrom('notified_statuses')
    .select(['kind', 'id', 'status'])
    .where('pipeline_id', '=', pipelineId)
    .execute()
}

export async function saveNotified(db: Db, row: Schema['notified_statuses']): Promise<void> {
  await db
    .insertInto('notified_statuses')
    .values(row)
    .onConflict((conflict) => conflict.columns(['kind', 'id']).doUpdateSet({ status: row.status }))
    .execute()
}

/** How often a job of this name was run again in its pipeline. */
export async function countRetries(db: Db, pipelineId: number, name: string): Promise<number> {
  const row = await db
    .selectFrom('ci_jobs')
    .select((is) => is.fn.countAll<number>().as('count'))
    .where('pipeline_id', '=', pipelineId)
    .where('name', '=', name)
    .where('retried', '=', 1)
    .executeTakeFirstOrThrow()
  return row.count
}

/** The id of the newest pipeline of a project, for trying a hook out. */
export async function findNewestPipelineId(db: Db, projectId: number): Promise<number | undefined> {
  const row = await db
    .selectFrom('pipelines')
    .select('id')
    .where('project_id', '=', projectId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.id
}
