import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import type { AddedTodos } from '../../discussions/effects.ts'
import type { TodoAction, TodoTarget } from '../../discussions/todos/add.ts'
import { type Notification, notifyPeople } from './notification.ts'

/** The mail that goes with to-dos on issues and merge requests; comments are mailed as such. */
export async function mailTodos(ctx: Ctx, { target, action, userIds }: AddedTodos): Promise<void> {
  const { type, projectId } = target
  const event = mailEvent(type, action)
  if (event === undefined || projectId === null || userIds.length === 0) return
  if (type !== 'Issue' && type !== 'MergeRequest') return
  const people = [...new Set(userIds)]
  await notifyPeople(ctx, {
    project_id: projectId,
    type,
    id: target.id,
    author_id: userOf(ctx.actor)?.id ?? null,
    event,
    ...(event === 'mentioned' ? { only: people } : { about: people }),
  })
}

function mailEvent(
  type: TodoTarget['type'],
  action: TodoAction,
): Notification['event'] | undefined {
  if (action === 'review_requested') return 'change_reviewer_merge_request'
  if (action === 'mentioned' || action === 'directly_addressed') return 'mentioned'
  if (action !== 'assigned') return undefined
  return type === 'Issue' ? 'reassign_issue' : 'reassign_merge_request'
}
