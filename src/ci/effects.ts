import type { Effect } from '../ctx.ts'

declare module '../ctx.ts' {
  /** What follows from changes of pipelines, each in the transaction of the change. */
  interface Effects {
    /** The status of a pipeline, or of a job in it, is another. */
    readonly pipelineChanged: readonly Effect<{ readonly id: number; readonly projectId: number }>[]
    readonly pipelineEnded: readonly Effect<{ readonly id: number; readonly status: string }>[]
  }
}
