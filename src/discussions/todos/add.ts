import { userOf } from '../../access/actor.ts'
import { notModified, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Happening, tellPeople } from '../../notifications/notifications/happening.ts'
import { findPendingTodo, finishTodosBy, finishTodosOn, insertTodo } from './queries.ts'

/** What a to-do is about. */
export interface TodoTarget {
  readonly type: 'Issue' | 'MergeRequest' | 'Commit' | 'Project' | 'Namespace'
  /** 0 for commits, which `commitId` names. */
  readonly id: number
  /** Null for groups. */
  readonly projectId: number | null
  readonly groupId?: number | undefined
  readonly commitId?: string | undefined
}

export type TodoAction =
  | 'assigned'
  | 'mentioned'
  | 'directly_addressed'
  | 'marked'
  | 'approval_required'
  | 'unmergeable'
  | 'review_requested'
  | 'build_failed'
  | 'member_access_requested'

/** Tells users that something waits for them, once for each action; nobody is told of their own doing. */
export async function addTodos(
  ctx: Ctx,
  target: TodoTarget,
  action: TodoAction,
  userIds: readonly number[],
  noteId?: number,
): Promise<void> {
  const author = userOf(ctx.actor)
  for (const userId of new Set(userIds)) {
    if (userId === author?.id) continue
    if (await findPendingTodo(ctx.db, userId, target, action)) continue
    await insertTodo(ctx.db, values(ctx, target, action, userId, author?.id ?? null, noteId))
  }
  if (noteId === undefined) await mailTodos(ctx, target, action, userIds)
}

/** The mail that goes with to-dos on issues and merge requests; comments are mailed as such. */
async function mailTodos(
  ctx: Ctx,
  target: TodoTarget,
  action: TodoAction,
  userIds: readonly number[],
): Promise<void> {
  const { type, projectId } = target
  const event = mailEvent(type, action)
  if (event === undefined || projectId === null || userIds.length === 0) return
  if (type !== 'Issue' && type !== 'MergeRequest') return
  await tellPeople(ctx, {
    project_id: projectId,
    type,
    id: target.id,
    author_id: userOf(ctx.actor)?.id ?? null,
    event,
    only: [...new Set(userIds)],
  })
}

function mailEvent(type: TodoTarget['type'], action: TodoAction): Happening['event'] | undefined {
  if (action === 'review_requested') return 'change_reviewer_merge_request'
  if (action === 'mentioned' || action === 'directly_addressed') return 'mentioned'
  if (action !== 'assigned') return undefined
  return type === 'Issue' ? 'reassign_issue' : 'reassign_merge_request'
}

/** The caller's own reminder; 304 when there is one (spec D §0.3). */
export async function markTodo(ctx: Ctx, target: TodoTarget) {
  const user = userOf(ctx.actor)
  if (!user) throw unauthorized()
  if (await findPendingTodo(ctx.db, user.id, target, 'marked')) throw notModified()
  return insertTodo(ctx.db, values(ctx, target, 'marked', user.id, user.id))
}

/** What the caller did settles what waited for them there. */
export async function settleTodos(
  ctx: Ctx,
  target: Pick<TodoTarget, 'type' | 'id'>,
): Promise<void> {
  const user = userOf(ctx.actor)
  if (user) await finishTodosOn(ctx.db, user.id, target.type, target.id, ctx.now())
}

function values(
  ctx: Ctx,
  target: TodoTarget,
  action: TodoAction,
  userId: number,
  authorId: number | null,
  noteId?: number,
) {
  return {
    user_id: userId,
    project_id: target.projectId,
    author_id: authorId,
    target_type: target.type,
    target_id: target.id,
    commit_id: target.commitId ?? null,
    group_id: target.groupId ?? null,
    action_name: action,
    note_id: noteId ?? null,
    created_at: ctx.now(),
    updated_at: ctx.now(),
  }
}

/** What was decided needs nobody else any more: settles the to-dos of one author about a target, whoever has them. */
export async function settleTodosBy(
  ctx: Ctx,
  target: Pick<TodoTarget, 'type' | 'id'>,
  action: TodoAction,
  authorId: number,
): Promise<void> {
  await finishTodosBy(ctx.db, { ...target, action, authorId }, ctx.now())
}
