import { userOf } from '../../../access/actor.ts'
import { badRequest, conflict, forbidden } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { inTransaction } from '../../../store/transaction.ts'
import {
  hasSnippets,
  listPersonalProjects,
  listSolelyOwnedGroups,
  type UserRow,
} from '../queries.ts'
import { removeUserLater } from './removal-task.ts'
import { type DeleteOptions, removeUser } from './remove-user.ts'

/** 409 while somebody else's group would be left without an owner (docs/contract/A-resolved §8.2, D §1.1). */
async function assertDeletable(ctx: Ctx, user: UserRow, options: DeleteOptions): Promise<void> {
  if (user.kind === 'ghost') throw badRequest('The ghost user cannot be deleted')
  if (userOf(ctx.actor)?.id === user.id) throw forbidden('You cannot delete your own user')
  if (options.hard) return
  if ((await listSolelyOwnedGroups(ctx.db, user.id)).length > 0) {
    throw conflict('User cannot be removed while is the sole-owner of a group')
  }
}

/** Deletes a user: at once, or in a task when projects, groups and snippets go along; then the user is shut out at once. */
export async function deleteUser(ctx: Ctx, user: UserRow, options: DeleteOptions): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    // Read inside: two owners of a group who are deleted at once must not both find the other.
    await assertDeletable(inner, user, options)
    if (!(await ownsMuch(inner, user, options))) return await removeUser(inner, user, options)
    await removeUserLater(inner, { id: user.id, hard: options.hard })
  })
}

/** Whether projects, groups or snippets go along, which takes long. */
async function ownsMuch(ctx: Ctx, user: UserRow, options: DeleteOptions): Promise<boolean> {
  if ((await listPersonalProjects(ctx.db, user.id)).length > 0) return true
  if (!options.hard) return false
  return (
    (await hasSnippets(ctx.db, user.id)) ||
    (await listSolelyOwnedGroups(ctx.db, user.id)).length > 0
  )
}
