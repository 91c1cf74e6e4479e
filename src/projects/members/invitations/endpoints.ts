import { z } from 'zod'
import { endpoint } from '../../../http/endpoint.ts'
import { atLeastOne, csv, day, id, integer, text } from '../../../http/params.ts'
import { onMembers } from '../access.ts'
import { type AddedMany, addMembers } from '../add-member.ts'
import { addedManyEntity } from '../entity.ts'
import { keepsLevel, onInvitation } from './access.ts'
import { changeInvitation, inviteByEmail, takeBackInvitation } from './invite.ts'
import { type InvitationRow, listInvitations } from './queries.ts'

const invitationEntity = z.strictObject({
  id: z.int(),
  invite_email: z.string(),
  invite_token: z.null(),
  access_level: z.int(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  user_name: z.string().nullable(),
  created_by_name: z.string().nullable(),
})

/** The token of an invitation is in the mail alone: it is stored hashed, and never shown. */
function presentInvitation(row: InvitationRow): z.input<typeof invitationEntity> {
  return {
    id: row.id,
    invite_email: row.invite_email ?? '',
    invite_token: null,
    access_level: row.access_level,
    created_at: row.created_at,
    expires_at: row.expires_at,
    user_name: null,
    created_by_name: row.created_by_name,
  }
}

function merged(one: AddedMany, other: AddedMany): AddedMany {
  if (one.status === 'success') return other
  if (other.status === 'success') return one
  const both = [one.message, other.message].map((part) =>
    typeof part === 'string' ? { base: part } : part,
  )
  return { status: 'error', message: Object.assign({}, ...both) }
}

export const postInvitations = endpoint({
  method: 'POST',
  path: '/:source/:id/invitations',
  summary: 'Invite people to a project or group',
  access: onMembers('add_member'),
  body: {
    email: csv(text()).optional(),
    user_id: csv(id()).optional(),
    access_level: integer(),
    expires_at: day().nullable().optional(),
    member_role_id: id().nullable().optional(),
    invite_source: text().optional(),
  },
  check: atLeastOne(['email', 'user_id']),
  response: addedManyEntity,
  async handler({ ctx, source, body }) {
    const users = (body.user_id ?? []).map((id) => ({ id }))
    const added = await addMembers(ctx, source, users, body)
    return merged(added, await inviteByEmail(ctx, source, body.email ?? [], body))
  },
})

export const getInvitations = endpoint({
  method: 'GET',
  path: '/:source/:id/invitations',
  summary: 'List the open invitations of a project or group',
  access: onMembers('admin_members'),
  query: { query: text().optional() },
  paginate: 'offset',
  response: z.array(invitationEntity),
  async handler({ ctx, source, query, page }) {
    const rows = await listInvitations(ctx.db, source, query.query, page)
    return { ...rows, items: rows.items.map(presentInvitation) }
  },
})

export const putInvitation = endpoint({
  method: 'PUT',
  path: '/:source/:id/invitations/:email',
  summary: 'Change an open invitation of a project or group',
  access: onInvitation('add_member'),
  body: { access_level: integer().optional(), expires_at: day().nullable().optional() },
  conditions: [keepsLevel],
  response: invitationEntity,
  async handler({ ctx, source, invitation, body }) {
    const change = { ...body, access_level: body.access_level ?? invitation.access_level }
    return presentInvitation(
      await changeInvitation(ctx, source, invitation.invite_email ?? '', change),
    )
  },
})

export const deleteInvitation = endpoint({
  method: 'DELETE',
  path: '/:source/:id/invitations/:email',
  summary: 'Take an invitation to a project or group back',
  access: onInvitation('admin_members'),
  handler: ({ ctx, source, invitation }) =>
    takeBackInvitation(ctx, source, invitation.invite_email ?? ''),
})
