import { type Condition, condition } from '../../../access/conditions.ts'
import { eitherRecord } from '../../../access/records.ts'
import type { Source } from '../../../access/sources.ts'
import { forbidden } from '../../../base/problem.ts'
import { text } from '../../../http/params.ts'
import { isAbove, membersOrder } from '../access.ts'
import { getInvitation } from './invite.ts'
import type { InvitationRow } from './queries.ts'

const invitation = eitherRecord('admin_members', {
  params: { email: text() },
  find: async ({ ctx, source, params }) => ({
    invitation: await getInvitation(ctx, source, params.email),
  }),
})

/** The open invitation of `:email`; whoever may not invite never learns whether there is one. */
export const onInvitation = (ability: 'add_member' | 'admin_members') =>
  invitation(ability, membersOrder)

interface Changing {
  readonly source: Source
  readonly invitation: InvitationRow
  readonly body: { readonly access_level?: number | undefined }
}

/** An invitation is to no level above the caller's, also where another part of it changes. */
export const keepsLevel: Condition<Changing> = condition(
  'access_level: not above the caller',
  ({ source, invitation, body }) =>
    isAbove(source, body.access_level ?? invitation.access_level) ? forbidden() : true,
)
