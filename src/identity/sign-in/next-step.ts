import { type UserActor, withoutToken } from '../../access/actor.ts'
import { assertUserMaySignIn } from '../../access/authentication/authenticate.ts'
import { dutiesOf } from '../../access/authentication/duty.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { getUser } from '../users/find-user.ts'
import {
  beginSession,
  beginWaiting,
  endSession,
  type Session,
  type SessionOptions,
} from './session.ts'

/** What a browser must be shown next: nothing stands between it and the pages where this is null. */
export type NextStep = 'second_factor' | 'new_password' | 'set_up_second_factor' | null

/** How somebody has shown who they are. A key that asked for a PIN or a finger is two factors in one. */
export type FirstStep = 'password' | 'key_with_pin' | 'provider'

export interface SignedIn {
  readonly next: NextStep
  /** Headers of the answer. */
  readonly headers: Readonly<Record<string, string>>
}

/**
 * Where every way to sign in comes together, once somebody has shown who they are: either the browser is signed in, or it
 * waits for the second factor; and what must be done before anything else.
 */
export async function continueSignIn(
  ctx: Ctx,
  actor: UserActor,
  how: FirstStep,
  request: Pick<RequestFacts, 'headers'>,
  options: SessionOptions = {},
): Promise<SignedIn> {
  const user = await getUser(ctx, actor.user.id)
  if (user.two_factor === 1 && how !== 'key_with_pin') {
    return { next: 'second_factor', headers: await beginWaiting(ctx, user, request) }
  }
  const { due } = await dutiesOf(ctx, user)
  return { next: stepOf(due), headers: await beginSession(ctx, actor, request, options) }
}

/** Signs a browser in whose second factor was proven; what waited for that is over. */
export async function completeSignIn(
  ctx: Ctx,
  waiting: Session,
  request: Pick<RequestFacts, 'headers'>,
  options: SessionOptions = {},
): Promise<SignedIn> {
  const user = await getUser(ctx, waiting.user.id)
  assertUserMaySignIn(waiting.user)
  const { due } = await dutiesOf(ctx, user)
  await endSession(ctx, waiting)
  const headers = await beginSession(ctx, withoutToken(waiting.user), request, options)
  return { next: stepOf(due), headers }
}

/** What stands in the way of a browser that has signed in. */
export function stepOf(due: 'password' | 'second_factor' | null): NextStep {
  if (due === 'password') return 'new_password'
  return due === 'second_factor' ? 'set_up_second_factor' : null
}
