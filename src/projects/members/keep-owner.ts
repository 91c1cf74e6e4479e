import { Role } from '../../access/roles.ts'
import type { SourceRef } from '../../access/sources.ts'
import type { Ctx } from '../../ctx.ts'
import { findRowOfUser, insertMember, updateMemberRow } from './queries.ts'

/** Makes sure that a user owns a source by a row of its own, whatever row stands there; in the caller's transaction. */
export async function keepOwner(
  ctx: Pick<Ctx, 'db' | 'now'>,
  source: SourceRef,
  userId: number,
): Promise<void> {
  const now = ctx.now()
  const row = await findRowOfUser(ctx.db, source, userId)
  const values = {
    access_level: Role.owner,
    expires_at: null,
    requested_at: null,
    state: 'active',
    updated_at: now,
  } as const
  if (row) return await updateMemberRow(ctx.db, row.id, values)
  await insertMember(ctx.db, {
    ...values,
    source_type: source.type,
    source_id: source.id,
    user_id: userId,
    created_at: now,
  })
}
