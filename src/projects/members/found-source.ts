import type { SourceRef } from '../../access/sources.ts'
import type { Ctx } from '../../ctx.ts'
import { insertMember } from './queries.ts'

/** The first member of a source that is being made, in the transaction that makes it. No rule is asked. */
export async function addFirstMember(
  ctx: Pick<Ctx, 'db' | 'now'>,
  source: SourceRef,
  member: { readonly userId: number; readonly level: number; readonly createdById: number | null },
): Promise<void> {
  const now = ctx.now()
  await insertMember(ctx.db, {
    source_type: source.type,
    source_id: source.id,
    user_id: member.userId,
    access_level: member.level,
    created_by_id: member.createdById,
    created_at: now,
    updated_at: now,
  })
}
