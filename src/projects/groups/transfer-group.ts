import { userOf } from '../../access/actor.ts'
import { Role, type Visibility, visibilityRank } from '../../access/roles.ts'
import { type Group, getVisibleGroup } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { invalidText, type Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { uniquely } from '../../store/unique.ts'
import { keepOwner } from '../members/keep-owner.ts'
import { countOtherOwners } from '../members/queries.ts'
import { recordMembership } from '../members/record.ts'
import { followNamespacePath, lowerProjectsBelow } from '../projects/below.ts'
import { assertMayCreateTopGroup, mayMoveInto } from './access.ts'
import { placeBelow } from './create-group.ts'
import { MAX_DEPTH } from './faults.ts'
import { countAncestors, updateGroupRow } from './queries.ts'
import { auditGroup } from './record.ts'
import { restrictTo } from './shared-runners.ts'
import { findHeight, lowerVisibility, moveBelow } from './tree-queries.ts'

function refused(reason: string): Problem {
  return invalidText(`Transfer failed: ${reason}`)
}

/** Moves a group with all below it under another group, or to the top (docs/contract/D §1.3). */
export async function transferGroup(
  ctx: Ctx,
  groupId: number,
  parentId: number | undefined,
): Promise<void> {
  const taken = () =>
    refused('The parent group already has a subgroup or a project with the same path.')
  await uniquely({ 'routes.path': taken }, () =>
    inTransaction(ctx, async (ctx) => {
      // Read inside: either may have been moved or renamed a moment ago.
      const group = await getVisibleGroup(ctx, String(groupId))
      const parent = parentId === undefined ? null : await getVisibleGroup(ctx, String(parentId))
      await assertFits(ctx, group, parent)
      const to = placeBelow(parent, group)
      const from = { fullPath: group.full_path, fullName: group.full_name }
      await updateGroupRow(ctx.db, group.id, {
        parent_id: parent?.id ?? null,
        updated_at: ctx.now(),
      })
      await moveBelow(ctx.db, group.id, from, to)
      await followNamespacePath(ctx, group.id, from.fullPath, to.fullPath)
      await auditGroup(ctx, group.id, 'group_transferred', { from: from.fullPath, to: to.fullPath })
      await runEffects(ctx, ctx.effects.groupTransferred, { groupId: group.id })
      if (!parent) return await keepSomeOwner(ctx, group.id)
      const tooHigh = above(parent.visibility)
      await lowerVisibility(ctx.db, group.id, parent.visibility, tooHigh)
      await lowerProjectsBelow(ctx, group.id, parent.visibility, tooHigh)
      await restrictTo(ctx, group, parent)
    }),
  )
}

/** Owners by the groups above were left behind: who moved the group owns it where nobody else does. */
async function keepSomeOwner(ctx: Ctx, groupId: number): Promise<void> {
  const user = userOf(ctx.actor)
  if (!user || (await countOtherOwners(ctx.db, groupId, 0)) > 0) return
  const source = { type: 'group', id: groupId } as const
  await keepOwner(ctx, source, user.id)
  await recordMembership(ctx, source, 'member_added', user.id, Role.owner)
}

function above(visibility: Visibility): Visibility[] {
  const all = Object.keys(visibilityRank) as Visibility[] // its keys are these words
  return all.filter((one) => visibilityRank[one] > visibilityRank[visibility])
}

async function assertFits(ctx: Ctx, group: Group, parent: Group | null): Promise<void> {
  if (!parent) {
    if (group.parent_id === null) throw refused('Group is already a root group.')
    return await assertMayCreateTopGroup(ctx)
  }
  if (parent.id === group.parent_id) {
    throw refused('Group is already associated to the parent group.')
  }
  const inside = `${parent.full_path}/`
    .toLowerCase()
    .startsWith(`${group.full_path}/`.toLowerCase())
  if (inside) throw refused('Cannot transfer group to one of its subgroup.')
  if (!mayMoveInto(ctx, parent)) throw refused("You don't have enough permissions.")
  const depth = (await countAncestors(ctx.db, parent.id)) + (await findHeight(ctx.db, group.id))
  if (depth > MAX_DEPTH) throw refused(`Groups are nested at most ${MAX_DEPTH} deep.`)
}
