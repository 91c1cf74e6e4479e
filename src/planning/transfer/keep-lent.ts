import type { Ctx } from '../../ctx.ts'
import type { ProjectChange } from '../../projects/effects.ts'
import { labelLike } from '../labels/verbs.ts'
import { listStrayLabels, listStrayMilestones, replaceLent } from '../lent-queries.ts'
import { milestoneLike } from '../milestones/verbs.ts'
import { placeOfProject } from '../place.ts'
import { findPlaceOf, listProjectsBelow } from './queries.ts'

type Moved = Awaited<ReturnType<typeof findPlaceOf>>

/** A project that goes to other groups keeps the labels and milestones that its groups lent it, as its own. */
export async function keepLentToProject(ctx: Ctx, { id, change }: ProjectChange): Promise<void> {
  if (change === 'transfer') await keepLent(ctx, await findPlaceOf(ctx.db, id))
}

/** The same for all projects of a group that goes elsewhere. */
export async function keepLentToGroup(
  ctx: Ctx,
  { groupId }: { readonly groupId: number },
): Promise<void> {
  for (const project of await listProjectsBelow(ctx.db, groupId)) await keepLent(ctx, project)
}

async function keepLent(ctx: Ctx, project: Moved): Promise<void> {
  const place = placeOfProject(project)
  for (const stray of await listStrayLabels(ctx.db, project.id)) {
    const own = await labelLike(ctx, place, stray)
    await replaceLent(ctx.db, 'label', project.id, stray.id, own.id)
  }
  for (const stray of await listStrayMilestones(ctx.db, project.id)) {
    const ownId = await milestoneLike(ctx, place, stray)
    await replaceLent(ctx.db, 'milestone', project.id, stray.id, ownId)
  }
}
