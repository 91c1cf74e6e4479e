import type { Selectable } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { PipelineStatus, PipelinesTable } from '../../store/schema/commits.ts'
import type { Db } from '../../store/schema.ts'

export type PipelineRow = Selectable<PipelinesTable>

/** The newest pipeline of a commit; of one ref, or with one id, when told. */
export async function findNewestPipeline(
  db: Db,
  projectId: number,
  sha: string,
  only: { readonly ref?: string | undefined; readonly id?: number | undefined } = {},
): Promise<PipelineRow | undefined> {
  const { ref, id } = only
  return await db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', projectId)
    .where('sha', '=', sha)
    .$if(ref !== undefined, (query) => query.where('ref', '=', ref ?? ''))
    .$if(id !== undefined, (query) => query.where('id', '=', id ?? 0))
    .orderBy('id', 'desc')
    .executeTakeFirst()
}

export async function insertPipeline(
  db: Db,
  pipeline: {
    readonly iid: number
    readonly project_id: number
    readonly sha: string
    readonly ref: string
    readonly tag: boolean
    readonly source: string
    readonly status: PipelineStatus
    readonly user_id: number | null
  },
  now: Instant,
): Promise<PipelineRow> {
  return await db
    .insertInto('pipelines')
    .values({ ...pipeline, created_at: now, updated_at: now })
    .returningAll()
    .executeTakeFirstOrThrow()
}

export async function updatePipelineStatus(
  db: Db,
  id: number,
  state: {
    readonly status: PipelineStatus
    readonly started_at: Instant | null
    readonly finished_at: Instant | null
  },
  now: Instant,
): Promise<void> {
  await db
    .updateTable('pipelines')
    .set({ ...state, updated_at: now })
    .where('id', '=', id)
    .execute()
}
