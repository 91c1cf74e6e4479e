import type { Ctx } from '../../ctx.ts'
import type { RegistrationPlace } from './queries.ts'
import { registrationTokenOf } from './verbs.ts'

/**
 * `runners_token` of a project or group for callers who may manage its runners; null while the instance takes no such
 * tokens. Jobs and tokens that only read do not get it: who registers a runner with it is given jobs and their secrets.
 */
export async function visibleRunnersToken(
  ctx: Ctx,
  place: RegistrationPlace,
  mayManage: boolean,
): Promise<{ readonly runners_token?: string | null }> {
  const { actor } = ctx
  if (!mayManage || actor.kind !== 'user') return {}
  if (actor.token && !actor.token.scopes.includes('api')) return {}
  if (!ctx.settings.get('allow_runner_registration_token')) return { runners_token: null }
  return { runners_token: await registrationTokenOf(ctx, place) }
}
