import { type Condition, condition, mayOr } from '../../access/conditions.ts'
import { judgedBy } from '../../access/decide.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { mayRunPipelines } from '../pipelines/access.ts'
import type { JobRow } from '../pipelines/process/running.ts'
import { readTrace } from '../traces/read-trace.ts'

interface OfJob {
  readonly ctx: Ctx
  readonly project: Project
  readonly job: JobRow
}

/** A log written with `CI_DEBUG_TRACE` shows every variable. */
export const mayReadDebugTrace: Condition<OfJob> = condition(
  'log of CI_DEBUG_TRACE: create_pipeline',
  async ({ ctx, project, job }) => {
    const { debug } = await readTrace(ctx, job.id)
    return mayOr(ctx, !debug || mayRunPipelines(ctx, judgedBy('GET', project)))
  },
)
