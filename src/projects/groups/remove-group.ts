import { z } from 'zod'
import { findGroupById, type GroupRow } from '../../access/find-queries.ts'
import { getVisibleGroup } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import { dayOf, later } from '../../base/clock.ts'
import { runEffects } from '../../base/effects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { goesAtOnce, type WantedRemoval } from '../namespaces/state.ts'
import {
  announceRemovalBelow,
  discardProjectsBelow,
  followNamespacePath,
  hideProjectsBelow,
} from '../projects/below.ts'
import { updateGroupRow } from './queries.ts'
import { auditGroup, saveState } from './record.ts'
import {
  deleteGroupRow,
  hideBelow,
  isGroupPendingDelete,
  listGroupsMarkedBefore,
  moveBelow,
} from './tree-queries.ts'

/** Removes a hidden group with the projects below it; repositories first, so that a crash leaves rows to try again. */
export const removeGroup = task({
  name: 'groups.remove',
  payload: z.object({ group_id: z.int() }),
  lane: 'slow',
  async handler(ctx: Ctx, { group_id: id }, signal) {
    if (!(await isGroupPendingDelete(ctx.db, id))) return
    await discardProjectsBelow(ctx, id, signal)
    await runEffects(ctx, ctx.effects.groupErased, { groupId: id })
    await deleteGroupRow(ctx.db, id)
  },
})

/**
 * Makes a group with all below it unfindable at once and its path free, and leaves the rest to a task; nothing when
 * somebody did so a moment ago, or the group is not `asWanted` any more.
 */
export async function hideGroup(
  ctx: Ctx,
  groupId: number,
  asWanted: (group: GroupRow) => boolean = () => true,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const group = await findGroupById(ctx.db, groupId)
    if (!group || !asWanted(group)) return
    await announceRemovalBelow(ctx, group.id)
    await runEffects(ctx, ctx.effects.groupChanged, { id: group.id, change: 'destroy' })
    // `~` stands in no path: nobody can have taken this one before.
    const mark = `~deleted~${group.id}`
    const from = { fullPath: group.full_path, fullName: group.full_name }
    const to = { fullPath: `${group.full_path}${mark}`, fullName: group.full_name }
    await updateGroupRow(ctx.db, group.id, { path: `${group.path}${mark}` })
    await moveBelow(ctx.db, group.id, from, to)
    await followNamespacePath(ctx, group.id, from.fullPath, to.fullPath)
    await hideBelow(ctx.db, group.id, ctx.now())
    await hideProjectsBelow(ctx, group.id)
    await auditGroup(ctx, group.id, 'group_deleted', { full_path: group.full_path })
    await ctx.work.enqueue(ctx.db, removeGroup, { group_id: group.id })
  })
}

/** Deletes a group: at once, or by a mark where the instance delays deletions, as with projects. */
export async function removeOrMarkGroup(
  ctx: Ctx,
  groupId: number,
  wanted: WantedRemoval,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    // Read inside: somebody may have restored or deleted it a moment ago.
    const group = await getVisibleGroup(ctx, String(groupId))
    if (goesAtOnce(ctx, group, wanted, 'group')) await hideGroup(ctx, group.id)
    else await saveState(ctx, group.id, 'marked_for_deletion')
  })
}

/** Takes the mark away again. */
export async function unmarkGroup(ctx: Ctx, groupId: number): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    const group = await getVisibleGroup(ctx, String(groupId))
    if (group.marked_for_deletion_on === null) {
      throw badRequest('Group has not been marked for deletion')
    }
    await saveState(ctx, group.id, 'restored')
  })
}

/** Every day: hides groups whose time after the mark for deletion is over. */
export const removeMarkedGroups = task({
  name: 'groups.remove_marked',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    const days = ctx.settings.get('deletion_adjourned_period')
    const day = dayOf(later(ctx.now(), -days * 86_400_000))
    // Somebody may restore one while others are being hidden.
    const isDue = ({ marked_for_deletion_on: marked }: GroupRow) => marked !== null && marked <= day
    for (const { id } of await listGroupsMarkedBefore(ctx.db, day)) await hideGroup(ctx, id, isDue)
  },
})
