import { invalid } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { createUser } from './create-user.ts'
import { signUpFaults } from './sign-up-rules.ts'

/**
 * Makes an account for somebody whom nobody knows, as the instance's settings want it. The address counts for nothing
 * until its owner has confirmed it: otherwise a stranger could take an invitation that was sent to it.
 */
export async function signUp(
  ctx: Ctx,
  given: {
    readonly name: string
    readonly username: string
    readonly email: string
    readonly password: string
  },
): Promise<'ready' | 'waits'> {
  const faults = await signUpFaults(given.email, ctx.settings.all)
  if (faults.length > 0) throw invalid({ email: faults })
  const waits = ctx.settings.get('require_admin_approval_after_user_signup')
  await createUser(ctx, {
    ...given,
    ask_confirmation: true,
    state: waits ? 'blocked_pending_approval' : 'active',
  })
  return waits ? 'waits' : 'ready'
}
