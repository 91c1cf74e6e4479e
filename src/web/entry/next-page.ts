import { Problem } from '../../base/problem.ts'
import { type NextStep, stepOf } from '../../identity/sign-in/next-step.ts'
import { safeReturn } from '../../identity/sign-in/return-path.ts'
import { withQuery } from '../address.ts'
import type { PageCtx } from '../page-ctx.ts'

const steps = {
  second_factor: '/users/sign_in/second_factor',
  new_password: '/-/user_settings/password',
  set_up_second_factor: '/-/user_settings/two_factor',
} as const

/**
 * Where a browser goes after a step of a sign-in; `returnTo` is where it was going, and `remember` what its person has asked
 * for.
 */
export function pathOfStep(next: NextStep, returnTo: unknown, remember = false): string {
  const path = typeof returnTo === 'string' ? safeReturn(returnTo) : undefined
  if (next === null) return path ?? '/'
  if (next !== 'second_factor') return steps[next]
  return withQuery(steps.second_factor, {
    return_to: path,
    remember_me: remember ? '1' : undefined,
  })
}

/** Sends whoever must do something first to where that is done. */
export function assertNothingDue({ actor }: PageCtx): void {
  const due = actor.kind === 'user' ? (actor.session?.due ?? null) : null
  if (due === null) return
  const headers = { Location: pathOfStep(stepOf(due), undefined), 'Cache-Control': 'no-store' }
  throw new Problem('moved', 302, { message: 'Something must be done first' }, { headers })
}
