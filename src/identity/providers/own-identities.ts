import type { Instant } from '../../base/clock.ts'
import { conflict, forbidden } from '../../base/problem.ts'
import { labelOf, type SignInProvider } from '../../base/providers/provider.ts'
import type { Ctx } from '../../ctx.ts'
import { callerId } from '../users/find-user.ts'
import { unlinkIdentity } from '../users/identities/link.ts'
import { listIdentities } from '../users/identities/queries.ts'
import { findUserRow } from '../users/queries.ts'

/** A provider as one's own account shows it. */
export interface OwnIdentity {
  readonly provider: string
  readonly label: string
  readonly linked_at: Instant | null
  readonly kind: 'openid' | 'ldap' | 'gone'
  readonly may: 'link' | 'unlink' | 'nothing'
}

/** The providers of this server, and those that the caller is linked to. */
export async function listOwnIdentities(ctx: Ctx): Promise<OwnIdentity[]> {
  const linked = await listIdentities(ctx.db, callerId(ctx))
  const { openid, ldap } = ctx.config.signInProviders
  const linkedAt = (name: string) =>
    linked.find(({ provider }) => provider === name)?.created_at ?? null
  const offered = [
    ...openid.map((one) => ownIdentity(one, 'openid', linkedAt(one.name))),
    ...ldap.map((one) => ownIdentity(one, 'ldap', linkedAt(one.name))),
  ]
  const others = linked.filter((one) => offered.every(({ provider }) => provider !== one.provider))
  const gone = others.map(({ provider, created_at: linked_at }) => {
    return { provider, label: provider, linked_at, kind: 'gone', may: 'nothing' } as const
  })
  return [...offered, ...gone]
}

function ownIdentity(
  provider: SignInProvider,
  kind: 'openid' | 'ldap',
  linked_at: Instant | null,
): OwnIdentity {
  const may = linked_at === null ? 'link' : kind === 'openid' ? 'unlink' : 'nothing'
  return { provider: provider.name, label: labelOf(provider), linked_at, kind, may }
}

/** Unlinks a provider, unless nothing else would let the caller in. */
export async function unlinkOwnIdentity(ctx: Ctx, provider: string): Promise<void> {
  const id = callerId(ctx)
  // Whoever has left the company would stay here.
  if (ctx.config.signInProviders.ldap.some(({ name }) => name === provider)) {
    throw forbidden('Administrators alone unlink a directory')
  }
  const user = await findUserRow(ctx.db, id)
  const others = (await listIdentities(ctx.db, id)).filter((one) => one.provider !== provider)
  if (user?.password_hash == null && others.length === 0) {
    throw conflict('You could not sign in any more: set a password first')
  }
  await unlinkIdentity(ctx, id, provider)
}
