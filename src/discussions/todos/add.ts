import { userOf } from '../../access/actor.ts'
import { runEffects } from '../../base/effects.ts'
import { notModified } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { callerId } from '../../identity/users/find-user.ts'
import type { MemberChange } from '../../projects/effects.ts'
import { inTransaction } from '../../store/transaction.ts'
import { findPendingTodo, finishTodosAbout, finishTodosBy, insertTodo } from './queries.ts'

/** What a to-do is about. */
export interface TodoTarget {
  readonly type: 'Issue' | 'MergeRequest' | 'Commit' | 'Project' | 'Namespace' | 'Alert'
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

/** Adds a to-do for users, once for each action; nobody gets one for their own doing. */
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
  if (noteId === undefined) {
    await runEffects(ctx, ctx.effects.todosAdded, { target, action, userIds })
  }
}

/** The caller's own reminder; 304 when there is one (docs/contract/D §0.3). */
export async function markTodo(ctx: Ctx, target: TodoTarget) {
  const userId = callerId(ctx)
  return inTransaction(ctx, async (ctx) => {
    if (await findPendingTodo(ctx.db, userId, target, 'marked')) throw notModified()
    return insertTodo(ctx.db, values(ctx, target, 'marked', userId, userId))
  })
}

/** Reminds people of what happened to something of theirs, once for each action; nobody gave them that. */
export async function remind(
  ctx: Ctx,
  target: TodoTarget,
  action: 'build_failed' | 'unmergeable',
  userIds: readonly number[],
): Promise<void> {
  for (const userId of new Set(userIds)) {
    if (await findPendingTodo(ctx.db, userId, target, action)) continue
    await insertTodo(ctx.db, values(ctx, target, action, userId, userId))
  }
}

/** What people were reminded of is no more. */
export async function forgetReminders(
  ctx: Ctx,
  target: Pick<TodoTarget, 'type' | 'id'>,
  action: 'build_failed' | 'unmergeable',
): Promise<void> {
  await finishTodosBy(ctx.db, { ...target, action }, ctx.now())
}

/** What the caller did completes their to-dos there. */
export async function completeTodos(
  ctx: Ctx,
  target: Pick<TodoTarget, 'type' | 'id'>,
): Promise<void> {
  const user = userOf(ctx.actor)
  if (user) await finishTodosAbout(ctx.db, target, ctx.now(), user.id)
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

/** What the target asked for was done: completes its to-dos, whoever has them. */
export async function completeTodosAbout(
  ctx: Ctx,
  target: Pick<TodoTarget, 'type' | 'id'>,
): Promise<void> {
  await finishTodosAbout(ctx.db, target, ctx.now())
}

/** The source of an access request as the to-dos of those who decide see it. */
function sourceTarget(source: MemberChange['source']): TodoTarget {
  return source.type === 'group'
    ? { type: 'Namespace', id: source.id, projectId: null, groupId: source.id }
    : { type: 'Project', id: source.id, projectId: source.id }
}

/** Gives those who decide about an access request something to do. */
export async function addRequestTodos(
  ctx: Ctx,
  { source, deciders }: { source: MemberChange['source']; deciders: readonly number[] },
): Promise<void> {
  await addTodos(ctx, sourceTarget(source), 'member_access_requested', deciders)
}

/** What was decided needs nobody else any more: completes the to-dos of the requester, whoever has them. */
export async function completeRequestTodos(
  ctx: Ctx,
  { source, userId }: Pick<MemberChange, 'source' | 'userId'>,
): Promise<void> {
  const action = 'member_access_requested'
  const asked = { ...sourceTarget(source), action, authorId: userId }
  await finishTodosBy(ctx.db, asked, ctx.now())
}
