import { type Actor, actorUser, withoutToken } from '../../access/actor.ts'
import { findUserForActor } from '../../access/authentication/sign-in-queries.ts'
import { isDue } from '../../access/token-use.ts'
import type { Ctx } from '../../ctx.ts'
import {
  findKeyByFingerprint,
  findKeyById,
  type SshKeyRow,
  updateKey,
} from '../../identity/keys/queries.ts'
import type { CertifiedUser } from './authorities.ts'

/** What somebody has proven to be: the holder of a key that is registered, or that an authority has certified. */
export type SshIdentity = { readonly keyId: number } | CertifiedUser

/** The row of a public key by which somebody may sign in. */
export async function findSignInKey(ctx: Ctx, fingerprint: string): Promise<SshKeyRow | undefined> {
  const row = await findKeyByFingerprint(ctx.db, 'fingerprint_sha256', fingerprint)
  return row && mayBeUsed(ctx, row) ? row : undefined
}

function mayBeUsed(ctx: Ctx, row: SshKeyRow): boolean {
  return row.usage_type !== 'signing' && (row.expires_at === null || row.expires_at > ctx.now())
}

/** Who acts with an identity now; undefined once the key is gone or over, or the account may not sign in. */
export async function findSshActor(ctx: Ctx, identity: SshIdentity): Promise<Actor | undefined> {
  if ('userId' in identity) {
    return identity.until > ctx.now() ? await activeUser(ctx, identity.userId) : undefined
  }
  const row = await findKeyById(ctx.db, identity.keyId)
  if (!row || !mayBeUsed(ctx, row)) return undefined
  if (row.deploy === 0) return row.user_id === null ? undefined : await activeUser(ctx, row.user_id)
  const { created_by_id: ownerId } = row
  const owner = ownerId === null ? undefined : await findUserForActor(ctx.db, String(ownerId))
  return {
    kind: 'deploy_key',
    keyId: row.id,
    title: row.title,
    owner: owner ? actorUser(owner) : null,
  }
}

async function activeUser(ctx: Ctx, id: number): Promise<Actor | undefined> {
  const row = await findUserForActor(ctx.db, String(id))
  return row?.state === 'active' ? withoutToken(actorUser(row)) : undefined
}

/** Remembers that a key was used, not more than once in a minute. */
export async function touchKey(ctx: Ctx, identity: SshIdentity): Promise<void> {
  if (!('keyId' in identity)) return
  const row = await findKeyById(ctx.db, identity.keyId)
  if (!row || !isDue(row.last_used_at, ctx.now())) return
  await updateKey(ctx.db, row.id, { last_used_at: ctx.now() })
}
