import type { Actor } from '../actor.ts'
import type { AddressLimit } from './address-limit.ts'
import type { AuthenticationContext } from './authentication-context.ts'
import { assertTermsAccepted } from './terms.ts'

export interface EntryContext extends AuthenticationContext {
  readonly addresses: AddressLimit
  readonly config: AuthenticationContext['config'] & { readonly externalUrl: string }
}

/**
 * What administrators ask of people whose secret was right: few addresses at a time, and that they have accepted the terms.
 * Pages show the terms by themselves. Of bots and jobs nothing is asked.
 */
export async function assertMayEnter(
  context: EntryContext,
  actor: Actor,
  options: { readonly byPage?: boolean } = {},
): Promise<void> {
  if (actor.kind !== 'user') return
  const user = actor.sudoBy ?? actor.user
  if (user.kind !== 'human') return
  const visit = { userId: user.id, ip: context.ip, now: Date.parse(context.now()) }
  context.addresses.assertFew(visit, context.settings.all)
  if (!options.byPage) await assertTermsAccepted(context, user)
}
