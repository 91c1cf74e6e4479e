import type { Project } from '../access/subjects.ts'

/** The pipeline of a merge request's head, as the endpoint of pipelines presents it. */
export type HeadPipeline = {
  readonly id: number
  readonly status: string
  readonly started_at: string | null
  readonly finished_at: string | null
}

declare module '../ctx.ts' {
  interface Readers {
    /** A pipeline of the project; null where it is gone. */
    readonly headPipeline: (
      ctx: Ctx,
      project: Project,
      pipelineId: number,
    ) => Promise<HeadPipeline | null>
  }
}
