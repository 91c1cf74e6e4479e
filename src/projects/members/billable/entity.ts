import { z } from 'zod'
import { isAdmin } from '../../../access/actor.ts'
import type { Group } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { presentUserBasic, userBasicEntity } from '../../../identity/users/basic.ts'
import { type BillableRow, MEMBERSHIP_TYPES, type MembershipRow } from '../hierarchy-queries.ts'
import { countOtherOwners } from '../queries.ts'
import { levelName } from '../rules.ts'

export const billableEntity = userBasicEntity.extend({
  email: z.string().nullable(),
  last_activity_on: z.string().nullable(),
  membership_type: z.enum(MEMBERSHIP_TYPES),
  removable: z.boolean(),
  created_at: z.string(),
  last_login_at: z.string().nullable(),
  is_last_owner: z.boolean(),
})

export async function presentBillable(
  ctx: Ctx,
  group: Group,
  row: BillableRow,
): Promise<z.input<typeof billableEntity>> {
  const type = MEMBERSHIP_TYPES[row.type] ?? 'group_member'
  const ownsTop = row.level === 50 && type === 'group_member'
  return {
    ...presentUserBasic(ctx, row),
    email: isAdmin(ctx.actor) ? row.email : row.public_email || null,
    last_activity_on: row.last_activity_on,
    membership_type: type,
    removable: type === 'group_member' || type === 'project_member',
    created_at: row.created_at,
    last_login_at: row.last_login_at,
    is_last_owner: ownsTop && (await countOtherOwners(ctx.db, group.id, row.id)) === 0,
  }
}

export const membershipEntity = z.strictObject({
  id: z.int(),
  source_id: z.int(),
  source_full_name: z.string(),
  source_members_url: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  access_level: z.strictObject({ string_value: z.string(), integer_value: z.int() }),
})

export function presentMembership(ctx: Ctx, row: MembershipRow): z.input<typeof membershipEntity> {
  const { externalUrl } = ctx.config
  return {
    id: row.id,
    source_id: row.source_id,
    source_full_name: row.full_name,
    source_members_url:
      row.source_type === 'group'
        ? `${externalUrl}/groups/${row.full_path}/-/group_members`
        : `${externalUrl}/${row.full_path}/-/project_members`,
    created_at: row.created_at,
    expires_at: row.expires_at,
    access_level: { string_value: levelName(row.access_level), integer_value: row.access_level },
  }
}
