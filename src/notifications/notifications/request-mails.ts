import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { ChangedMergeRequest } from '../../review/effects.ts'
import { type Notification, notifyPeople } from './notification.ts'

interface Request {
  readonly project: Project
  readonly id: number
}

function mailOf(ctx: Ctx, { project, id }: Request, event: Notification['event']): Promise<void> {
  const author_id = userOf(ctx.actor)?.id ?? null
  return notifyPeople(ctx, { project_id: project.id, type: 'MergeRequest', id, author_id, event })
}

/** Whoever takes part in a merge request, or follows it, is notified that it is to be merged once it can be. */
export function mailAutoMerge(ctx: Ctx, request: Request): Promise<void> {
  return mailOf(ctx, request, 'merge_when_pipeline_succeeds')
}

/** Whoever wants a mail about new commits of a merge request gets one. */
export async function mailRequestPush(ctx: Ctx, change: ChangedMergeRequest): Promise<void> {
  if (change.oldrev !== undefined) await mailOf(ctx, change, 'push_to_merge_request')
}
