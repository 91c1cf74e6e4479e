import { z } from 'zod'
import { isAdmin } from '../../../access/actor.ts'
import { mayInGroup } from '../../../access/decide.ts'
import { type Group, onGroup } from '../../../access/subjects.ts'
import { dayOf } from '../../../base/clock.ts'
import { badRequest, notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { id, oneOf, text } from '../../../http/params.ts'
import { presentUserBasic, userBasicEntity } from '../../../identity/users/basic.ts'
import {
  BILLABLE_SORTS,
  type BillableRow,
  findBillable,
  listBillable,
  listIndirectMemberships,
  listMembershipsBelow,
  listProvisioned,
  MEMBERSHIP_TYPES,
  type MembershipRow,
} from '../hierarchy-queries.ts'
import { countOtherOwners, findMemberUser } from '../queries.ts'
import { levelName } from '../rules.ts'
import { enqueueRemoval } from './removal.ts'

const tags = ['billable members']
const access = () => onGroup('read_group', { signedIn: true, validateFirst: true })

/** Owners of top-level groups only; everybody else gets 400, not 403 (docs/contract/A-resolved §9). */
export function assertOwnerOfTop(ctx: Ctx, group: Group, texts?: [string, string]): void {
  if (group.parent_id !== null) throw badRequest(texts?.[0])
  if (!mayInGroup(ctx.actor, group, 'admin_members')) throw badRequest(texts?.[1])
}

const billableEntity = userBasicEntity.extend({
  email: z.string().nullable(),
  last_activity_on: z.string().nullable(),
  membership_type: z.enum(MEMBERSHIP_TYPES),
  removable: z.boolean(),
  created_at: z.string(),
  last_login_at: z.string().nullable(),
  is_last_owner: z.boolean(),
})

async function presentBillable(
  ctx: Ctx,
  group: Group,
  row: BillableRow,
): Promise<z.input<typeof billableEntity>> {
  const type = MEMBERSHIP_TYPES[row.type] ?? 'group_member'
  const today = dayOf(ctx.now())
  const ownsTop = row.level === 50 && type === 'group_member'
  return {
    ...presentUserBasic(ctx, row),
    email: isAdmin(ctx.actor) ? row.email : row.public_email || null,
    last_activity_on: row.last_activity_on,
    membership_type: type,
    removable: type === 'group_member' || type === 'project_member',
    created_at: row.created_at,
    last_login_at: row.last_login_at,
    is_last_owner: ownsTop && (await countOtherOwners(ctx.db, group.id, row.id, today)) === 0,
  }
}

export const getBillableMembers = endpoint({
  method: 'GET',
  path: '/groups/:id/billable_members',
  summary: 'List the users who take a seat in a top-level group',
  tags,
  access: access(),
  query: { search: text().optional(), sort: oneOf(BILLABLE_SORTS).optional() },
  paginate: 'offset',
  response: z.array(billableEntity),
  async handler({ ctx, group, query, page }) {
    assertOwnerOfTop(ctx, group)
    const rows = await listBillable(ctx.db, group.id, dayOf(ctx.now()), query, page)
    const items = await Promise.all(rows.items.map((row) => presentBillable(ctx, group, row)))
    return { ...rows, items }
  },
})

const membershipEntity = z.strictObject({
  id: z.int(),
  source_id: z.int(),
  source_full_name: z.string(),
  source_members_url: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  access_level: z.strictObject({ string_value: z.string(), integer_value: z.int() }),
})

function presentMembership(ctx: Ctx, row: MembershipRow): z.input<typeof membershipEntity> {
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

/** 404 `404 Not found` for no user at all, `404 User Not Found` for one who takes no seat. */
async function assertBillable(ctx: Ctx, group: Group, userId: number): Promise<void> {
  if (!(await findMemberUser(ctx.db, { id: userId }))) throw notFound()
  if (!(await findBillable(ctx.db, group.id, userId, dayOf(ctx.now())))) throw notFound('User')
}

export const getBillableMemberships = endpoint({
  method: 'GET',
  path: '/groups/:id/billable_members/:user_id/memberships',
  summary: 'List the direct memberships of a billable user inside a group',
  tags,
  access: access(),
  params: { user_id: id() },
  paginate: 'offset',
  response: z.array(membershipEntity),
  async handler({ ctx, group, params, page }) {
    assertOwnerOfTop(ctx, group)
    await assertBillable(ctx, group, params.user_id)
    const today = dayOf(ctx.now())
    const rows = await listMembershipsBelow(ctx.db, group.id, params.user_id, today, page)
    return { ...rows, items: rows.items.map((row) => presentMembership(ctx, row)) }
  },
})

export const getBillableIndirect = endpoint({
  method: 'GET',
  path: '/groups/:id/billable_members/:user_id/indirect',
  summary: 'List the memberships of invited groups by which a user is billable',
  tags,
  access: access(),
  params: { user_id: id() },
  paginate: 'offset',
  response: z.array(membershipEntity),
  async handler({ ctx, group, params, page }) {
    assertOwnerOfTop(ctx, group)
    await assertBillable(ctx, group, params.user_id)
    const today = dayOf(ctx.now())
    const rows = await listIndirectMemberships(ctx.db, group.id, params.user_id, today, page)
    return { ...rows, items: rows.items.map((row) => presentMembership(ctx, row)) }
  },
})

export const getMemberIndirect = endpoint({
  method: 'GET',
  path: '/groups/:id/members/:user_id/indirect',
  summary: 'List the memberships of invited groups that reach into a group',
  tags,
  access: access(),
  params: { user_id: id() },
  paginate: 'offset',
  response: z.array(membershipEntity),
  async handler({ ctx, group, params, page }) {
    assertOwnerOfTop(ctx, group)
    if (!(await findMemberUser(ctx.db, { id: params.user_id }))) throw notFound()
    const today = dayOf(ctx.now())
    const rows = await listIndirectMemberships(ctx.db, group.id, params.user_id, today, page)
    return { ...rows, items: rows.items.map((row) => presentMembership(ctx, row)) }
  },
})

export const getProvisionedUsers = endpoint({
  method: 'GET',
  path: '/groups/:id/provisioned_users',
  summary: 'List the accounts that a group made for itself',
  tags,
  access: onGroup('admin_members', { signedIn: true }),
  query: { search: text().optional(), username: text().optional() },
  paginate: 'offset',
  response: z.array(userBasicEntity),
  async handler({ ctx, group, query, page }) {
    const rows = await listProvisioned(ctx.db, group.id, query, page)
    return { ...rows, items: rows.items.map((row) => presentUserBasic(ctx, row)) }
  },
})

export const deleteBillableMember = endpoint({
  method: 'DELETE',
  path: '/groups/:id/billable_members/:user_id',
  summary: 'Remove a billable user from a group and from everything below',
  tags,
  access: access(),
  params: { user_id: id() },
  async handler({ ctx, group, params }) {
    assertOwnerOfTop(ctx, group, ['Must be a root namespace', 'User not authorized'])
    await assertBillable(ctx, group, params.user_id)
    await enqueueRemoval(ctx, group.id, params.user_id)
  },
})
