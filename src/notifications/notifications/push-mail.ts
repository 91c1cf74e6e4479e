import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import type { ChangedMergeRequest } from '../../review/effects.ts'
import { notifyPeople } from './notification.ts'

/** Whoever wants a mail about new commits of a merge request gets one. */
export async function mailRequestPush(
  ctx: Ctx,
  { project, id, oldrev }: ChangedMergeRequest,
): Promise<void> {
  if (oldrev === undefined) return
  await notifyPeople(ctx, {
    project_id: project.id,
    type: 'MergeRequest',
    id,
    author_id: userOf(ctx.actor)?.id ?? null,
    event: 'push_to_merge_request',
  })
}
