import type { Effect } from '../ctx.ts'

/** What follows from changes of pipelines, each in the transaction of the change. */
export interface CiEffects {
  /** The status of a pipeline, or of a job in it, is another. */
  readonly pipelineChanged: readonly Effect<{ readonly id: number; readonly projectId: number }>[]
  readonly pipelineEnded: readonly Effect<{ readonly id: number; readonly status: string }>[]
}
