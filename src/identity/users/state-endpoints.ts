import { z } from 'zod'
import { onInstance } from '../../access/subjects.ts'
import { conflict } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, text } from '../../http/params.ts'
import { inTransaction } from '../../store/transaction.ts'
import { getUser } from './find-user.ts'
import { unlinkIdentity } from './identities/link.ts'
import { deleteUser } from './removal/delete-user.ts'
import { moveUser } from './states.ts'

/** The moves between states answer `true`, or `false` when there was nothing to do (docs/contract/D §0.3). */
function stateEndpoint(
  name: 'unblock' | 'activate' | 'deactivate' | 'ban' | 'unban',
  summary: string,
) {
  return endpoint({
    method: 'POST',
    path: `/users/:id/${name}`,
    summary,
    access: onInstance(),
    params: { id: id() },
    response: z.boolean(),
    handler: ({ ctx, params }) => moveUser(ctx, params.id, name),
  })
}

/** Unlike the other moves it answers `null` for a user who is blocked (docs/contract/D §1.1). */
export const blockUser = endpoint({
  method: 'POST',
  path: '/users/:id/block',
  summary: 'Block a user',
  access: onInstance(),
  params: { id: id() },
  response: z.literal(true).nullable(),
  handler: async ({ ctx, params }) => ((await moveUser(ctx, params.id, 'block')) ? true : null),
})
export const unblockUser = stateEndpoint('unblock', 'Unblock a user')
export const activateUser = stateEndpoint('activate', 'Activate a deactivated user')
export const deactivateUser = stateEndpoint('deactivate', 'Deactivate a user who is not active')
export const banUser = stateEndpoint('ban', 'Ban a user')
export const unbanUser = stateEndpoint('unban', 'Lift the ban of a user')

const success = z.strictObject({ message: z.literal('Success') })

export const approveUser = endpoint({
  method: 'POST',
  path: '/users/:id/approve',
  summary: 'Approve a user who waits for approval',
  access: onInstance(),
  params: { id: id() },
  response: success,
  async handler({ ctx, params }) {
    await moveUser(ctx, params.id, 'approve')
    return { message: 'Success' } as const
  },
})

export const rejectUser = endpoint({
  method: 'POST',
  path: '/users/:id/reject',
  summary: 'Reject a user who waits for approval, and delete the account',
  access: onInstance(),
  params: { id: id() },
  response: success,
  async handler({ ctx, params }) {
    await inTransaction(ctx, async (inner) => {
      // Read inside: somebody else may have approved the user a moment ago.
      const user = await getUser(inner, params.id)
      if (user.state !== 'blocked_pending_approval') {
        throw conflict('User does not have a pending request')
      }
      await deleteUser(inner, user, { hard: true })
    })
    return { message: 'Success' } as const
  },
})

export const deleteUserIdentity = endpoint({
  method: 'DELETE',
  path: '/users/:id/identities/:provider',
  summary: 'Remove an identity of a user at a sign-in provider',
  access: onInstance(),
  params: { id: id(), provider: text() },
  async handler({ ctx, params }) {
    const user = await getUser(ctx, params.id)
    await unlinkIdentity(ctx, user.id, params.provider)
  },
})
