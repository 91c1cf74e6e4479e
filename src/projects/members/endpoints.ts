import { z } from 'zod'
import { notFound } from '../../base/problem.ts'
import { endpoint, perMinuteAsSet } from '../../http/endpoint.ts'
import { atLeastOne, csv, day, flag, id, integer, oneOf, text } from '../../http/params.ts'
import { addsMember, givesLevel, namedUsers, onMembers, onMembership, onShare } from './access.ts'
import { addMember, addMembers } from './add-member.ts'
import { changeMember, removeMember } from './change-member.ts'
import { addedManyEntity, memberEntity, presentMember } from './entity.ts'
import { unshareSource } from './share-source.ts'
import { listMembers, readMember } from './visible-members.ts'

const listParams = {
  query: text({ max: 10_000 }).optional(),
  user_ids: csv(id()).optional(),
  show_seat_info: flag().optional(),
  with_saml_identity: flag().optional(),
} as const

export const listDirectMembers = endpoint({
  method: 'GET',
  path: '/:source/:id/members',
  summary: 'List the direct members of a project or group',
  access: onMembers(),
  query: { ...listParams, skip_users: csv(id()).optional() },
  paginate: 'offset',
  response: z.array(memberEntity),
  async handler({ ctx, source, query, page }) {
    const rows = await listMembers(ctx, source, { ...query, all: false }, page)
    const wanted = { seats: query.show_seat_info }
    return { ...rows, items: rows.items.map((row) => presentMember(ctx, row, wanted)) }
  },
})

export const listAllMembers = endpoint({
  method: 'GET',
  path: '/:source/:id/members/all',
  summary: 'List the members of a project or group, inherited and invited ones included',
  access: onMembers(),
  query: { ...listParams, state: oneOf(['awaiting', 'active']).optional() },
  paginate: 'offset',
  response: z.array(memberEntity),
  async handler({ ctx, source, query, page }) {
    const rows = await listMembers(ctx, source, { ...query, all: true }, page)
    const wanted = { seats: query.show_seat_info }
    return { ...rows, items: rows.items.map((row) => presentMember(ctx, row, wanted)) }
  },
})

export const getMember = endpoint({
  method: 'GET',
  path: '/:source/:id/members/:user_id',
  summary: 'Get a direct member of a project or group',
  access: onMembers(),
  params: { user_id: id() },
  response: memberEntity,
  handler: ({ ctx, source, params }) => readMember(ctx, source, params.user_id),
})

export const getAnyMember = endpoint({
  method: 'GET',
  path: '/:source/:id/members/all/:user_id',
  summary: 'Get a member of a project or group, also an inherited or invited one',
  access: onMembers(),
  params: { user_id: id() },
  response: memberEntity,
  handler: ({ ctx, source, params }) => readMember(ctx, source, params.user_id, { all: true }),
})

/** Exactly one of the two must be there. */
function oneUserParameter(sent: ReadonlySet<string>): string[] {
  const both = sent.has('user_id') && sent.has('username')
  if (both) return ['user_id, username are mutually exclusive']
  return atLeastOne(['user_id', 'username'])(sent)
}

export const postMember = endpoint({
  method: 'POST',
  path: '/:source/:id/members',
  summary: 'Add members to a project or group',
  access: onMembers(),
  body: {
    user_id: csv(id()).optional(),
    username: csv(text()).optional(),
    access_level: integer(),
    expires_at: day().nullable().optional(),
    member_role_id: id().nullable().optional(),
    invite_source: text().optional(),
  },
  check: oneUserParameter,
  conditions: [addsMember],
  response: memberEntity.or(addedManyEntity),
  async handler({ ctx, source, body }) {
    const [only, ...others] = namedUsers(body)
    if (!only) throw notFound('User')
    if (others.length > 0) return await addMembers(ctx, source, [only, ...others], body)
    return await readMember(ctx, source, await addMember(ctx, source, only, body))
  },
})

export const putMember = endpoint({
  method: 'PUT',
  path: '/:source/:id/members/:user_id',
  summary: 'Change the role of a member of a project or group',
  access: onMembership('change_member'),
  body: {
    access_level: integer(),
    expires_at: day()
      .or(text({ max: 0 }).transform(() => null))
      .nullable()
      .optional(),
    member_role_id: id().nullable().optional(),
  },
  conditions: [givesLevel()],
  response: memberEntity,
  async handler({ ctx, source, membership, body }) {
    const userId = membership.user_id ?? 0
    await changeMember(ctx, source, userId, body)
    return await readMember(ctx, source, userId)
  },
})

export const deleteMember = endpoint({
  method: 'DELETE',
  path: '/:source/:id/members/:user_id',
  summary: 'Remove a member from a project or group',
  access: onMembership('remove_member'),
  query: { skip_subresources: flag().optional(), unassign_issuables: flag().optional() },
  limit: perMinuteAsSet('members_delete_limit', 'caller_and_subject'),
  async handler({ ctx, source, membership, query }) {
    await removeMember(ctx, source, membership.user_id ?? 0, {
      skipSubresources: query.skip_subresources ?? false,
      unassign: query.unassign_issuables ?? false,
    })
  },
})

export const deleteShare = endpoint({
  method: 'DELETE',
  path: '/:source/:id/share/:group_id',
  summary: 'Stop sharing a project or group with another group',
  access: onShare(),
  handler: ({ ctx, source, share }) => unshareSource(ctx, source, share.group_id),
})
