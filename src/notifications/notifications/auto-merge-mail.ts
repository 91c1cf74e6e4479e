import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { notifyPeople } from './notification.ts'

/** Whoever takes part in a merge request, or follows it, hears that it is to be merged once it can be. */
export async function mailAutoMerge(
  ctx: Ctx,
  { project, id }: { readonly project: Project; readonly id: number },
): Promise<void> {
  await notifyPeople(ctx, {
    project_id: project.id,
    type: 'MergeRequest',
    id,
    author_id: userOf(ctx.actor)?.id ?? null,
    event: 'merge_when_pipeline_succeeds',
  })
}
