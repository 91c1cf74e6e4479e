import { randomBytes } from 'node:crypto'
import { actAs } from '../../access/act-as.ts'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError, type GitErrorCode } from '../../git/error.ts'
import { inTransaction } from '../../store/transaction.ts'
import { endJob } from '../pipelines/process/change-jobs.ts'
import { refusalByEnvironment } from '../pipelines/process/refusal-by-environment.ts'
import { giveJob, type LoadedJob, loadJob } from '../pipelines/process/running.ts'
import { type BuiltPayload, buildPayload, type JobPayload } from './payload.ts'
import type { PayloadInput } from './payload-input.ts'
import { isAnythingPending, listCandidates } from './queries.ts'
import { queueOf } from './waiting.ts'

/** Who asks for a job, and what the program can do. */
export interface Picker {
  readonly runner: PayloadInput['runner'] & {
    readonly maximum_timeout: number | null
  }
  readonly managerId: number
  readonly features: Readonly<Record<string, unknown>>
}

/** Gives a runner the next job that it may have; undefined when there is none for it. */
export async function pickJob(ctx: Ctx, picker: Picker): Promise<JobPayload | undefined> {
  if (!(await isAnythingPending(ctx.db))) return undefined
  for (const id of await listCandidates(ctx.db, picker.runner)) {
    const payload = await takeJob(ctx, id, picker)
    if (payload) return payload
  }
  return undefined
}

async function takeJob(ctx: Ctx, id: number, picker: Picker): Promise<JobPayload | undefined> {
  const loaded = await loadJob(ctx.db, id)
  if (!loaded) return undefined
  const refusal = refusalOf(loaded)
  if (refusal !== undefined) {
    await endJob(ctx, loaded.job, { status: 'failed', reason: refusal })
    return undefined
  }
  const token = ctx.config.vendor.tokenPrefix('job') + randomBytes(24).toString('base64url')
  const timeout = shortest(loaded.job.timeout, picker.runner.maximum_timeout)
  const acting = await actAs(ctx, loaded.job.user_id)
  const blocked = await refusalByEnvironment(acting, loaded)
  if (blocked !== undefined) {
    await endJob(ctx, loaded.job, { status: 'failed', reason: blocked })
    return undefined
  }
  const built = await payloadOf(acting, loaded, { token, timeout, runner: picker.runner })
  if (!built) return undefined
  if (typeof built === 'string') {
    await endJob(ctx, loaded.job, { status: 'failed', reason: built })
    return undefined
  }
  const { can_cancel, accepted } = abilities(picker.features)
  const given = await inTransaction(ctx, (ctx) =>
    giveJob(ctx, loaded.job, {
      runner_id: picker.runner.id,
      runner_type: picker.runner.runner_type,
      manager_id: picker.managerId,
      token_digest: digestOf(token),
      masks: built.masks,
      foreign_sources: built.foreignSources,
      ends_at: later(ctx.now(), timeout * 1000),
      can_cancel,
      accepted,
    }),
  )
  return given ? built.payload : undefined
}

/** After this time runners that wait try again what did not go well. */
const AGAIN_MS = 1000
/** What may go well the next time: the job is left where it is. */
const PASSING: readonly GitErrorCode[] = ['stale', 'locked', 'busy', 'timeout', 'full', 'failed']

/** The payload, or why there can be none: a job that cannot be described to a runner must not hold up those behind it. */
async function payloadOf(
  ctx: Ctx,
  loaded: LoadedJob,
  input: PayloadInput,
): Promise<BuiltPayload | string | undefined> {
  try {
    return await buildPayload(ctx, loaded, input)
  } catch (error) {
    // The server is busy: so it is for every job.
    if (error instanceof Problem && error.code === 'unavailable') throw error
    ctx.log.warn('a job cannot be prepared for its runner', { job_id: loaded.job.id, error })
    if (error instanceof GitError && PASSING.includes(error.code)) {
      queueOf(ctx.db).changeSoon(AGAIN_MS)
      return undefined
    }
    return 'data_integrity_failure'
  }
}

function abilities(features: Readonly<Record<string, unknown>>) {
  return {
    can_cancel: features.cancel_gracefully === true,
    accepted: features.two_phase_job_commit !== true,
  }
}

const DEFAULT_TIMEOUT = 3600

function shortest(own: number | null, most: number | null): number {
  const wanted = own ?? DEFAULT_TIMEOUT
  return most === null || most <= 0 ? wanted : Math.min(wanted, most)
}

/** Why a waiting job may not run any more. */
function refusalOf({ user }: LoadedJob): string | undefined {
  if (user && user.state !== 'active') return 'user_blocked'
  return undefined
}
