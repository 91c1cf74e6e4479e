import { randomBytes } from 'node:crypto'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import { forbidden, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { findRunnerByDigest, type RunnerRow, replaceRunnerToken } from './queries.ts'

/** A secret for a runner, and what the table keeps of it. */
export interface RunnerSecret {
  readonly token: string
  readonly columns: Pick<RunnerRow, 'token_digest' | 'token_start' | 'token_expires_at'>
}

const SHOWN = 9

export function newRunnerSecret(ctx: Pick<Ctx, 'config' | 'settings' | 'now'>): RunnerSecret {
  const secret = randomBytes(24).toString('base64url')
  const token = ctx.config.vendor.tokenPrefix('runner') + secret
  const seconds = ctx.settings.get('runner_token_expiration_interval')
  return {
    token,
    columns: {
      token_digest: digestOf(token),
      token_start: secret.slice(0, SHOWN),
      token_expires_at: seconds ? later(ctx.now(), seconds * 1000) : null,
    },
  }
}

/** Gives a runner a new token; throws `late` where somebody replaced the old one, or deleted the runner, a moment ago. */
export async function giveNewToken(ctx: Ctx, runner: RunnerRow, late: () => Problem) {
  const { token, columns } = newRunnerSecret(ctx)
  const values = { ...columns, updated_at: ctx.now() }
  if (!(await replaceRunnerToken(ctx.db, runner, values))) throw late()
  return { token, token_expires_at: columns.token_expires_at }
}

/** The token that a runner sends in the body, the query or a header of its own. */
export function runnerTokenOf(
  request: Pick<RequestFacts, 'headers'>,
  given: string | undefined,
): string | undefined {
  const header = request.headers['runner-token']
  return given || (typeof header === 'string' && header !== '' ? header : undefined)
}

/** The runner of a token that is good; undefined otherwise. */
export async function findRunnerByToken(
  ctx: Pick<Ctx, 'db' | 'now'>,
  token: string,
): Promise<RunnerRow | undefined> {
  const runner = await findRunnerByDigest(ctx.db, digestOf(token))
  const isOver = runner?.token_expires_at != null && runner.token_expires_at <= ctx.now()
  return isOver ? undefined : runner
}

/** The runner that asks: 400 without a token, 403 with a wrong one (docs/contract/B-resolved §6). */
export async function signInRunner(
  ctx: Pick<Ctx, 'db' | 'now'>,
  request: Pick<RequestFacts, 'headers'>,
  given: string | undefined,
): Promise<RunnerRow> {
  const token = runnerTokenOf(request, given)
  if (token === undefined) throw new Problem('bad_request', 400, { error: 'token is missing' })
  const runner = await findRunnerByToken(ctx, token)
  if (!runner) throw forbidden()
  return runner
}
