import { z } from 'zod'
import { signedIn } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { id, integer, oneOf, text } from '../../http/params.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { PUBLIC_TYPES, presentTodo, presentTodos, todoEntity } from './entity.ts'
import { findTodo, finishTodos, listTodoRows } from './queries.ts'

/** What may be asked for (docs/contract/D §1.29); of some there is never a to-do here. */
const ACTIONS = [
  'assigned',
  'mentioned',
  'build_failed',
  'marked',
  'approval_required',
  'unmergeable',
  'directly_addressed',
  'merge_train_removed',
  'member_access_requested',
  'review_requested',
  'review_submitted',
  'okr_checkin_requested',
  'added_approver',
] as const

function myself(ctx: Ctx) {
  return { ...viewerOf(ctx), userId: callerId(ctx) }
}

export const listTodos = endpoint({
  method: 'GET',
  path: '/todos',
  summary: 'List what waits for the caller',
  access: signedIn(),
  query: {
    action: oneOf(ACTIONS).optional(),
    author_id: integer().optional(),
    project_id: integer().optional(),
    group_id: integer().optional(),
    state: oneOf(['pending', 'done']).optional(),
    type: text({ max: 100 }).optional(),
  },
  paginate: 'offset',
  response: z.array(todoEntity),
  async handler({ ctx, query, page }) {
    const filter = {
      state: query.state ?? 'pending',
      action: query.action,
      authorId: query.author_id,
      projectId: query.project_id,
      groupId: query.group_id,
      type:
        Object.keys(PUBLIC_TYPES).find((type) => PUBLIC_TYPES[type] === query.type) ?? query.type,
    } as const
    const rows = await listTodoRows(ctx.db, myself(ctx), filter, page)
    return { ...rows, items: await presentTodos(ctx, rows.items) }
  },
})

export const markTodoAsDone = endpoint({
  method: 'POST',
  path: '/todos/:todo_id/mark_as_done',
  summary: 'Mark a to-do as done',
  access: signedIn(),
  params: { todo_id: id() },
  response: todoEntity,
  async handler({ ctx, params: { todo_id } }) {
    await finishTodos(ctx.db, callerId(ctx), todo_id, ctx.now())
    const row = existing(await findTodo(ctx.db, myself(ctx), todo_id))
    return presentTodo(ctx, row)
  },
})

export const markAllTodosAsDone = endpoint({
  method: 'POST',
  path: '/todos/mark_as_done',
  summary: 'Mark all that waits as done',
  access: signedIn(),
  async handler({ ctx }) {
    await finishTodos(ctx.db, callerId(ctx), null, ctx.now())
  },
})
