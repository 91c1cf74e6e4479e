import { z } from 'zod'
import { userOf } from '../../../access/actor.ts'
import { groupRecord } from '../../../access/records.ts'
import { badRequest, forbidden, notFound, unprocessable } from '../../../base/problem.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { id, oneOf } from '../../../http/params.ts'
import { usersById } from '../../../identity/users/find-basic.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { membersOrder } from '../access.ts'
import { memberEntity } from '../entity.ts'
import { getMembership } from '../find-member.ts'
import { isMemberRow, listPending, saveStates } from '../hierarchy-queries.ts'
import { countOtherOwners, findMemberUser } from '../queries.ts'
import { onTopGroup } from './access.ts'

const pendingEntity = z.strictObject({
  id: z.int(),
  name: z.string().nullable(),
  username: z.string().nullable(),
  email: z.string(),
  avatar_url: z.string().nullable(),
  web_url: z.string().nullable(),
  approved: z.boolean(),
  invited: z.boolean(),
})

export const getPendingMembers = endpoint({
  method: 'GET',
  path: '/groups/:id/pending_members',
  summary: 'List the pending members of a top-level group',
  access: onTopGroup(),
  paginate: 'offset',
  response: z.array(pendingEntity),
  async handler({ ctx, group, page }) {
    const rows = await listPending(ctx.db, group.id, page)
    const users = await usersById(
      ctx,
      rows.items.map((row) => row.user_id),
    )
    const items = rows.items.map((row) => {
      const user = row.user_id === null ? undefined : users.get(row.user_id)
      return {
        id: row.member_id,
        name: user?.name ?? null,
        username: user?.username ?? null,
        email: row.invite_email ?? user?.public_email ?? '',
        avatar_url: user?.avatar_url ?? null,
        web_url: user?.web_url ?? null,
        approved: row.approved === 1,
        invited: row.user_id === null,
      }
    })
    return { ...rows, items }
  },
})

export const approveMember = endpoint({
  method: 'PUT',
  path: '/groups/:id/members/:member_id/approve',
  summary: 'Approve a pending member',
  access: onTopGroup(),
  params: { member_id: id() },
  async handler({ ctx, group, params }) {
    if (!(await isMemberRow(ctx.db, params.member_id))) throw notFound()
    const which = { memberId: params.member_id }
    const found = await saveStates(ctx.db, group.id, which, 'active', ctx.now())
    if (found === 0) throw badRequest('No memberships found')
  },
})

export const approveAllMembers = endpoint({
  method: 'POST',
  path: '/groups/:id/members/approve_all',
  summary: 'Approve all pending members of a top-level group',
  access: onTopGroup(),
  status: 204,
  async handler({ ctx, group }) {
    await saveStates(ctx.db, group.id, { from: 'awaiting' }, 'active', ctx.now())
  },
})

export const putMemberState = endpoint({
  method: 'PUT',
  path: '/groups/:id/members/:user_id/state',
  summary: 'Let a user wait, or count again, in a top-level group',
  access: onTopGroup(),
  params: { user_id: id() },
  body: { state: oneOf(['awaiting', 'active']) },
  response: z.strictObject({ success: z.literal(true) }),
  async handler({ ctx, group, params, body }) {
    if (!(await findMemberUser(ctx.db, { id: params.user_id }))) throw notFound()
    await inTransaction(ctx, async (ctx) => {
      if (body.state === 'awaiting') {
        if (params.user_id === userOf(ctx.actor)?.id) {
          throw unprocessable('You cannot set yourself to awaiting')
        }
        const others = await countOtherOwners(ctx.db, group.id, params.user_id)
        if (others === 0) throw unprocessable('The last owner cannot be set to awaiting')
      }
      const which = { userId: params.user_id }
      const found = await saveStates(ctx.db, group.id, which, body.state, ctx.now())
      if (found === 0) throw unprocessable('No memberships found')
    })
    return { success: true as const }
  },
})

const onGroupMember = groupRecord('read_group', {
  params: { user_id: id() },
  find: async ({ ctx, group, params }) => ({
    membership: await getMembership(ctx, { type: 'group', id: group.id }, params.user_id),
  }),
})

/** Memberships are set aside only where a directory keeps them; none does here, so that nobody has the right. */
const overriding = (method: 'POST' | 'DELETE', summary: string) =>
  endpoint({
    method,
    path: '/groups/:id/members/:user_id/override',
    summary,
    access: onGroupMember('admin_members', membersOrder),
    response: memberEntity,
    handler() {
      throw forbidden()
    },
  })

export const postOverride = overriding('POST', 'Set the level of a member from a directory by hand')
export const deleteOverride = overriding(
  'DELETE',
  'Take the level of a member from the directory again',
)
