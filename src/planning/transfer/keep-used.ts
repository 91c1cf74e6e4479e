import type { Ctx } from '../../ctx.ts'
import type { ProjectChange } from '../../projects/effects.ts'
import {
  listLabelsOfOtherGroups,
  listMilestonesOfOtherGroups,
  replaceUses,
} from '../group-owned-queries.ts'
import { labelLike } from '../labels/verbs.ts'
import { milestoneLike } from '../milestones/verbs.ts'
import { placeOfProject } from '../place.ts'
import { findPlaceOf, listProjectsBelow } from './queries.ts'

type Moved = Awaited<ReturnType<typeof findPlaceOf>>

/** A project that goes to other groups keeps the labels and milestones of its old groups that it uses, as its own. */
export async function keepUsedByProject(ctx: Ctx, { id, change }: ProjectChange): Promise<void> {
  if (change === 'transfer') await keepUsed(ctx, await findPlaceOf(ctx.db, id))
}

/** The same for all projects of a group that goes elsewhere. */
export async function keepUsedByGroup(
  ctx: Ctx,
  { groupId }: { readonly groupId: number },
): Promise<void> {
  for (const project of await listProjectsBelow(ctx.db, groupId)) await keepUsed(ctx, project)
}

async function keepUsed(ctx: Ctx, project: Moved): Promise<void> {
  const place = placeOfProject(project)
  for (const used of await listLabelsOfOtherGroups(ctx.db, project.id)) {
    const own = await labelLike(ctx, place, used)
    await replaceUses(ctx.db, 'label', project.id, used.id, own.id)
  }
  for (const used of await listMilestonesOfOtherGroups(ctx.db, project.id)) {
    const ownId = await milestoneLike(ctx, place, used)
    await replaceUses(ctx.db, 'milestone', project.id, used.id, ownId)
  }
}
