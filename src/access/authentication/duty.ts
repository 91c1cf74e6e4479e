import { dayOf, type Instant, later } from '../../base/clock.ts'
import type { AuthenticationContext } from './authentication-context.ts'
import { findGroupGrace, findTwoFactorRequest, noteTwoFactorRequest } from './duty-queries.ts'

/** What somebody must do in a browser before anything else. */
export type Duty = 'password' | 'second_factor'

/** What authentication reads of a user for this. */
interface Bound {
  readonly id: number
  readonly two_factor: 0 | 1
  readonly password_expires_at: Instant | null
}

/** What is asked of somebody who has signed in with a browser. */
export interface Duties {
  /** Nothing else is open until this is done. */
  readonly due: Duty | null
  /** Until when a second factor must be there, while it is asked for and not yet due. */
  readonly secondFactorBy: Instant | null
}

const NONE: Duties = { due: null, secondFactorBy: null }

/** The one place that decides what stands between a browser that has signed in and the pages. */
export async function dutiesOf(context: AuthenticationContext, user: Bound): Promise<Duties> {
  const { password_expires_at: expires } = user
  if (expires !== null && expires <= context.now()) return { ...NONE, due: 'password' }
  if (user.two_factor === 1) return NONE
  const hours = await graceOf(context, user.id)
  if (hours === undefined) return NONE
  const by = later(await askedAt(context, user.id), hours * 3_600_000)
  return by <= context.now() ? { ...NONE, due: 'second_factor' } : { due: null, secondFactorBy: by }
}

/** Hours that a user has for setting a second factor up; undefined where none is required of them. */
async function graceOf(context: AuthenticationContext, userId: number) {
  const { settings } = context
  const ofInstance = settings.get('require_two_factor_authentication')
    ? settings.get('two_factor_grace_period')
    : undefined
  const ofGroups = await findGroupGrace(context.db, userId, dayOf(context.now()))
  const asked = [ofInstance, ofGroups].filter((one) => one !== undefined)
  return asked.length === 0 ? undefined : Math.min(...asked)
}

/** When the user was first asked, which may be now. */
async function askedAt(context: AuthenticationContext, userId: number): Promise<Instant> {
  const known = await findTwoFactorRequest(context.db, userId)
  if (known !== undefined) return known
  await noteTwoFactorRequest(context.db, userId, context.now())
  return context.now()
}
