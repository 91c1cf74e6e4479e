import { audit } from '../../../access/audit.ts'
import { conflict, notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import {
  deleteIdentity,
  findUserOfIdentity,
  type IdentityRow,
  listIdentities,
  replaceIdentity,
} from './queries.ts'

/** Lets a user sign in by a provider too. Who is linked already, on either side, must be unlinked first. */
export async function linkIdentity(
  ctx: Ctx,
  userId: number,
  identity: Pick<IdentityRow, 'provider' | 'extern_uid'>,
): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    const holder = await findUserOfIdentity(inner.db, identity)
    if (holder?.id === userId) return
    if (holder) throw conflict('This identity belongs to another account')
    const own = await listIdentities(inner.db, userId)
    if (own.some(({ provider }) => provider === identity.provider)) {
      throw conflict('Another identity of this provider is linked: unlink it first')
    }
    await replaceIdentity(inner.db, { ...identity, user_id: userId, created_at: inner.now() })
    await noteChange(inner, userId, 'identity_linked', identity.provider)
  })
}

/** Ends that a user signs in by a provider; 404 where the user does not. */
export async function unlinkIdentity(ctx: Ctx, userId: number, provider: string): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    if (!(await deleteIdentity(inner.db, userId, provider))) throw notFound('Identity')
    await noteChange(inner, userId, 'identity_unlinked', provider)
  })
}

async function noteChange(ctx: Ctx, id: number, action: string, provider: string): Promise<void> {
  await audit(ctx, { entity: { type: 'User', id }, action, details: { provider } })
}
