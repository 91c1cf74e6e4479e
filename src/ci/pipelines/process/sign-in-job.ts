import { timingSafeEqual } from 'node:crypto'
import { digestOf } from '../../../access/token-use.ts'
import { forbidden, Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import type { RequestFacts } from '../../../http/endpoint.ts'
import { findRunning, getJobStatus, type RunningJob } from './running.ts'

/** The token that a runner sends for a job: a header, or with older programs the body or query. */
export function jobTokenOf(
  request: Pick<RequestFacts, 'headers'>,
  given: string | undefined,
): string | undefined {
  const header = request.headers['job-token']
  return typeof header === 'string' && header !== '' ? header : given
}

/**
 * The running job of `:id` for the runner that has it. A job that is unknown, ended or another's is 403, never 404: that
 * asks the runner to stop, and `Job-Status` how the job ended (docs/contract/B-resolved §6).
 */
export async function signInJob(
  ctx: Pick<Ctx, 'db'>,
  id: number,
  token: string | undefined,
): Promise<RunningJob & { readonly status: string }> {
  const status = await getJobStatus(ctx.db, id)
  const running = await findRunning(ctx.db, id)
  const isRight =
    running !== undefined &&
    token !== undefined &&
    timingSafeEqual(running.token_digest, digestOf(token))
  if (isRight) return { ...running, status: status ?? 'running' }
  const isEnded = status !== undefined && running === undefined
  throw isEnded ? endedProblem(status) : forbidden()
}

function endedProblem(status: string): Problem {
  const body = { message: '403 Forbidden  - Job is not running' }
  return new Problem('forbidden', 403, body, { headers: { 'Job-Status': status } })
}
