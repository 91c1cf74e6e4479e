import type { Project } from '../../../access/subjects.ts'
import { Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { MISSING_CONFIG } from '../../config/fault.ts'
import type { PipelineRow } from '../queries.ts'
import { startPlanned } from './create-pipeline.ts'
import type { PipelineRef } from './known-variables.ts'
import { type MadePlan, makePlan } from './make-plan.ts'
import type { PipelineInput } from './pipeline-input.ts'
import { saveFaultyPipeline } from './save-pipeline.ts'
import { assertRoomForJobs } from './within-plan.ts'

/** What an event brings, once, however often its task runs. */
export interface EventInput extends PipelineInput {
  /** All jobs are skipped: `[skip ci]` or the push option. */
  readonly skipped: boolean
  /** Notes in the transaction that makes the pipeline that the event has its own; false when it had before. */
  readonly claim: (ctx: Ctx) => Promise<boolean>
  /** A configuration that cannot be used makes a failed pipeline that says why. */
  readonly showsFaults: boolean
  /** Why there can be no pipeline, reported like a fault of the configuration. */
  readonly refused?: string | undefined
}

class Claimed extends Error {}

/** Makes the pipeline that an event brings; none where the configuration wants none, or the event had its own before. */
export async function createEventPipeline(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  input: EventInput,
): Promise<PipelineRow | undefined> {
  const before = async (ctx: Ctx) => {
    if (!(await input.claim(ctx))) throw new Claimed()
  }
  try {
    const made = await planOrFault(ctx, project, at, input)
    if (typeof made === 'string') {
      if (made === MISSING_CONFIG || !input.showsFaults) return undefined
      return await inTransaction(ctx, async (ctx) => {
        await before(ctx)
        return await saveFaultyPipeline(ctx, project, at, { ...input, fault: made })
      })
    }
    if (typeof made.plan === 'string') return undefined
    return await startPlanned(ctx, project, at, made.plan, {
      ...input,
      before,
      configPath: made.configPath,
    })
  } catch (error) {
    if (error instanceof Claimed) return undefined
    throw error
  }
}

async function planOrFault(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  input: EventInput,
): Promise<MadePlan | string> {
  if (input.refused !== undefined) return input.refused
  try {
    const made = await makePlan(ctx, project, at, input)
    if (typeof made.plan !== 'string') await assertRoomForJobs(ctx, project.id, made.plan)
    return made
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return error.fields?.base?.join(', ') ?? error.message
  }
}
