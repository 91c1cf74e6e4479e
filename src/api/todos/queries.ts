import type { Insertable, Selectable } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { TodosTable } from '../../store/schema/issues.ts'
import type { Db } from '../../store/schema.ts'
import { userBasicColumns } from '../users/basic.ts'

export interface TodoFilter {
  readonly state: 'pending' | 'done'
  readonly action?: string | undefined
  readonly authorId?: number | undefined
  readonly projectId?: number | undefined
  readonly groupId?: number | undefined
  readonly type?: string | undefined
}

export function listTodoRows(db: Db, userId: number, filter: TodoFilter, page: OffsetPage) {
  let query = db
    .selectFrom('todos')
    .selectAll('todos')
    .where('todos.user_id', '=', userId)
    .where('todos.state', '=', filter.state)
  if (filter.action) query = query.where('todos.action_name', '=', filter.action)
  if (filter.authorId) query = query.where('todos.author_id', '=', filter.authorId)
  if (filter.projectId) query = query.where('todos.project_id', '=', filter.projectId)
  if (filter.type) query = query.where('todos.target_type', '=', filter.type)
  if (filter.groupId) {
    const groupId = filter.groupId
    query = query.where('todos.project_id', 'in', (inner) =>
      inner
        .selectFrom('projects')
        .innerJoin('namespace_ancestors as a', 'a.namespace_id', 'projects.namespace_id')
        .select('projects.id')
        .where('a.ancestor_id', '=', groupId),
    )
  }
  return listPage(db, query.orderBy('todos.id', 'desc'), page)
}

export function findTodo(db: Db, userId: number, id: number) {
  return db
    .selectFrom('todos')
    .selectAll()
    .where('user_id', '=', userId)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** A pending to-do of a user about a target, if there is one. */
export function findPendingTodo(
  db: Db,
  userId: number,
  type: string,
  targetId: number,
  action: string,
) {
  return db
    .selectFrom('todos')
    .select('id')
    .where('user_id', '=', userId)
    .where('target_type', '=', type)
    .where('target_id', '=', targetId)
    .where('action_name', '=', action)
    .where('state', '=', 'pending')
    .executeTakeFirst()
}

export function insertTodo(db: Db, todo: Insertable<TodosTable>) {
  return db.insertInto('todos').values(todo).returningAll().executeTakeFirstOrThrow()
}

/** Marks one of the user's to-dos, or all that wait, as done. */
export async function finishTodos(
  db: Db,
  userId: number,
  id: number | null,
  now: Instant,
): Promise<void> {
  let query = db
    .updateTable('todos')
    .set({ state: 'done', updated_at: now })
    .where('user_id', '=', userId)
    .where('state', '=', 'pending')
  if (id !== null) query = query.where('id', '=', id)
  await query.execute()
}

/** What the user did to the target settles what waited for them there. */
export async function finishTodosOn(
  db: Db,
  userId: number,
  type: string,
  targetId: number,
  now: Instant,
): Promise<void> {
  await db
    .updateTable('todos')
    .set({ state: 'done', updated_at: now })
    .where('user_id', '=', userId)
    .where('target_type', '=', type)
    .where('target_id', '=', targetId)
    .where('state', '=', 'pending')
    .execute()
}

/** What a to-do is about: its project, author, target and note, as far as they still exist. */
export async function findTodoContext(
  db: Db,
  row: Pick<
    Selectable<TodosTable>,
    'project_id' | 'author_id' | 'target_type' | 'target_id' | 'note_id'
  >,
) {
  const project = await db
    .selectFrom('projects')
    .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
    .select([
      'projects.id',
      'projects.name',
      'projects.path',
      'projects.full_path',
      'projects.description',
      'projects.created_at',
      'namespaces.full_name as namespace_name',
    ])
    .where('projects.id', '=', row.project_id ?? 0)
    .executeTakeFirst()
  const author = await db
    .selectFrom('users')
    .select(userBasicColumns)
    .where('users.id', '=', row.author_id ?? 0)
    .executeTakeFirst()
  const target = await db
    .selectFrom(row.target_type === 'Issue' ? 'issues' : 'merge_requests')
    .select(['iid', 'title', 'description', 'state', 'created_at', 'updated_at'])
    .where('id', '=', row.target_id)
    .executeTakeFirst()
  const note = await db
    .selectFrom('notes')
    .select('body')
    .where('id', '=', row.note_id ?? 0)
    .executeTakeFirst()
  return { project, author, target, note }
}
