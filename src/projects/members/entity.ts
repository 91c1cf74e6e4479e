import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { presentUserBasic, type UserBasicRow, userBasicEntity } from '../../identity/users/basic.ts'

/** A member of a project or group (docs/contract/A §Group member, docs/contract/A-resolved §9). */
export const memberEntity = userBasicEntity.extend({
  access_level: z.int(),
  created_at: z.string(),
  created_by: userBasicEntity.optional(),
  expires_at: z.string().nullable(),
  membership_state: z.enum(['active', 'awaiting']),
  member_role_id: z.int().nullable(),
  is_using_seat: z.boolean().optional(),
})

export type Member = z.input<typeof memberEntity>

/** What `presentMember` reads: the user, the membership, and who made it. */
export interface MemberView extends UserBasicRow {
  readonly kind: string
  readonly access_level: number
  readonly created_at: string
  readonly expires_at: string | null
  readonly membership_state: 'active' | 'awaiting'
  readonly member_role_id: number | null
  readonly creator: UserBasicRow | null
}

export function presentMember(
  ctx: Ctx,
  row: MemberView,
  wanted: { readonly seats?: boolean | undefined } = {},
): Member {
  return {
    ...presentUserBasic(ctx, row),
    access_level: row.access_level,
    created_at: row.created_at,
    ...(row.creator ? { created_by: presentUserBasic(ctx, row.creator) } : {}),
    expires_at: row.expires_at,
    membership_state: row.membership_state,
    member_role_id: row.member_role_id,
    ...(wanted.seats ? { is_using_seat: isUsingSeat(row) } : {}),
  }
}

/** The top tier leaves out Guests and below; bots and service accounts never take a seat (docs/contract/A-resolved §9). */
function isUsingSeat(row: MemberView): boolean {
  return row.kind === 'human' && (row.access_level > 10 || row.member_role_id !== null)
}

/** What adding several answers. */
export const addedManyEntity = z.strictObject({
  status: z.enum(['success', 'error']),
  message: z.union([z.string(), z.record(z.string(), z.string())]).optional(),
})
