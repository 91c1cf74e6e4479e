import { z } from 'zod'
import { type Group, onGroup } from '../../../access/subjects.ts'
import { dayOf } from '../../../base/clock.ts'
import type { OffsetPage } from '../../../base/page.ts'
import { notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { id, oneOf, text } from '../../../http/params.ts'
import { presentUserBasic, userBasicEntity } from '../../../identity/users/basic.ts'
import {
  BILLABLE_SORTS,
  findBillable,
  listBillable,
  listIndirectMemberships,
  listMembershipsBelow,
  listProvisioned,
} from '../hierarchy-queries.ts'
import { findMemberUser } from '../queries.ts'
import { onTopGroup } from './access.ts'
import { billableEntity, membershipEntity, presentBillable, presentMembership } from './entity.ts'
import { enqueueRemoval } from './removal.ts'

export const getBillableMembers = endpoint({
  method: 'GET',
  path: '/groups/:id/billable_members',
  summary: 'List the billable members of a top-level group',
  access: onTopGroup(),
  query: { search: text().optional(), sort: oneOf(BILLABLE_SORTS).optional() },
  paginate: 'offset',
  response: z.array(billableEntity),
  async handler({ ctx, group, query, page }) {
    const rows = await listBillable(ctx.db, group.id, dayOf(ctx.now()), query, page)
    const items = await Promise.all(rows.items.map((row) => presentBillable(ctx, group, row)))
    return { ...rows, items }
  },
})

/** 404 `404 Not found` for no user at all, `404 User Not Found` for one who takes no seat. */
async function assertBillable(ctx: Ctx, group: Group, userId: number): Promise<void> {
  if (!(await findMemberUser(ctx.db, { id: userId }))) throw notFound()
  if (!(await findBillable(ctx.db, group.id, userId, dayOf(ctx.now())))) throw notFound('User')
}

async function listMemberships(
  ctx: Ctx,
  list: typeof listMembershipsBelow,
  groupId: number,
  userId: number,
  page: OffsetPage,
) {
  const rows = await list(ctx.db, groupId, userId, dayOf(ctx.now()), page)
  return { ...rows, items: rows.items.map((row) => presentMembership(ctx, row)) }
}

export const getBillableMemberships = endpoint({
  method: 'GET',
  path: '/groups/:id/billable_members/:user_id/memberships',
  summary: 'List the direct memberships of a billable user inside a group',
  access: onTopGroup(),
  params: { user_id: id() },
  paginate: 'offset',
  response: z.array(membershipEntity),
  async handler({ ctx, group, params, page }) {
    await assertBillable(ctx, group, params.user_id)
    return listMemberships(ctx, listMembershipsBelow, group.id, params.user_id, page)
  },
})

export const getBillableIndirect = endpoint({
  method: 'GET',
  path: '/groups/:id/billable_members/:user_id/indirect',
  summary: 'List the memberships of invited groups by which a user is billable',
  access: onTopGroup(),
  params: { user_id: id() },
  paginate: 'offset',
  response: z.array(membershipEntity),
  async handler({ ctx, group, params, page }) {
    await assertBillable(ctx, group, params.user_id)
    return listMemberships(ctx, listIndirectMemberships, group.id, params.user_id, page)
  },
})

export const getMemberIndirect = endpoint({
  method: 'GET',
  path: '/groups/:id/members/:user_id/indirect',
  summary: 'List the members that a group has through invited groups',
  access: onTopGroup(),
  params: { user_id: id() },
  paginate: 'offset',
  response: z.array(membershipEntity),
  async handler({ ctx, group, params, page }) {
    if (!(await findMemberUser(ctx.db, { id: params.user_id }))) throw notFound()
    return listMemberships(ctx, listIndirectMemberships, group.id, params.user_id, page)
  },
})

export const getProvisionedUsers = endpoint({
  method: 'GET',
  path: '/groups/:id/provisioned_users',
  summary: 'List the users that a group provisioned',
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
  access: onTopGroup({ subgroup: 'Must be a root namespace', others: 'User not authorized' }),
  params: { user_id: id() },
  async handler({ ctx, group, params }) {
    await assertBillable(ctx, group, params.user_id)
    await enqueueRemoval(ctx, group.id, params.user_id)
  },
})
