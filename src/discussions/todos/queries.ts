import { type RawBuilder, type SqlBool, sql } from 'kysely'
import { Role } from '../../access/roles.ts'
import { seesIssue } from '../../access/visible-issues.ts'
import {
  hasProjectRole,
  readsInternalNotes,
  seesFeature,
  seesGroup,
  seesProject,
  type Viewer,
} from '../../access/visible-queries.ts'
import type { Instant } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { userBasicColumns } from '../../identity/users/basic.ts'
import { namespacesBelow } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, NewRowOf, RowOf } from '../../store/schema.ts'

export interface TodoFilter {
  readonly state: 'pending' | 'done'
  readonly action?: string | undefined
  readonly authorId?: number | undefined
  readonly projectId?: number | undefined
  readonly groupId?: number | undefined
  readonly type?: string | undefined
}

/** Whose to-dos are read: their own. */
type OwnViewer = Viewer & { readonly userId: number }

/** A to-do of an internal note shows it to those alone who read such notes. */
function readsNote(viewer: Viewer): RawBuilder<SqlBool> {
  return sql<SqlBool>`(NOT EXISTS (SELECT 1 FROM notes WHERE notes.id = todos.note_id AND notes.internal = 1)
    OR ${readsInternalNotes(viewer)})`
}

/** A to-do shows no more than its owner may look up by now. */
function seesTarget(viewer: Viewer): RawBuilder<SqlBool> {
  return sql<SqlBool>`CASE todos.target_type
    WHEN 'Namespace' THEN EXISTS (SELECT 1 FROM namespaces WHERE namespaces.id = todos.group_id
      AND namespaces.pending_delete = 0 AND ${seesGroup(viewer)})
    ELSE EXISTS (SELECT 1 FROM projects WHERE projects.id = todos.project_id AND projects.pending_delete = 0
      AND ${readsNote(viewer)} AND CASE todos.target_type
        WHEN 'Issue' THEN EXISTS (SELECT 1 FROM issues WHERE issues.id = todos.target_id AND ${seesIssue(viewer)})
        WHEN 'MergeRequest' THEN ${seesFeature(viewer, 'merge_requests', Role.planner)}
        WHEN 'Alert' THEN ${hasProjectRole(viewer.userId ?? 0, viewer.today, Role.developer)}
        WHEN 'Commit' THEN ${seesFeature(viewer, 'repository', Role.planner)}
        ELSE ${seesProject(viewer)} END) END`
}

export function listTodoRows(db: Db, viewer: OwnViewer, filter: TodoFilter, page: OffsetPage) {
  let query = db
    .selectFrom('todos')
    .selectAll('todos')
    .where('todos.user_id', '=', viewer.userId)
    .where('todos.state', '=', filter.state)
    .where(seesTarget(viewer))
  if (filter.action) query = query.where('todos.action_name', '=', filter.action)
  if (filter.authorId) query = query.where('todos.author_id', '=', filter.authorId)
  if (filter.projectId) query = query.where('todos.project_id', '=', filter.projectId)
  if (filter.type) query = query.where('todos.target_type', '=', filter.type)
  if (filter.groupId) {
    const groupId = filter.groupId
    query = query.where(
      sql<SqlBool>`(todos.group_id IN ${namespacesBelow(groupId)}
        OR todos.project_id IN (SELECT projects.id FROM projects
          JOIN namespace_ancestors a ON a.namespace_id = projects.namespace_id WHERE a.ancestor_id = ${groupId}))`,
    )
  }
  return listPage(db, query.orderBy('todos.id', 'desc'), page)
}

/** A to-do of the viewer's own, as long as they may see what it is about. */
export function findTodo(db: Db, viewer: OwnViewer, id: number) {
  return db
    .selectFrom('todos')
    .selectAll('todos')
    .where('todos.user_id', '=', viewer.userId)
    .where('todos.id', '=', id)
    .where(seesTarget(viewer))
    .executeTakeFirst()
}

/** A pending to-do of a user about a target, if there is one. */
export function findPendingTodo(
  db: Db,
  userId: number,
  target: { readonly type: string; readonly id: number; readonly commitId?: string | undefined },
  action: string,
) {
  return db
    .selectFrom('todos')
    .select('id')
    .where('user_id', '=', userId)
    .where('target_type', '=', target.type)
    .where('target_id', '=', target.id)
    .where('commit_id', 'is', target.commitId ?? null)
    .where('action_name', '=', action)
    .where('state', '=', 'pending')
    .executeTakeFirst()
}

export function insertTodo(db: Db, todo: NewRowOf<'todos'>) {
  return db.insertInto('todos').values(todo).returningAll().executeTakeFirstOrThrow()
}

/** Marks as done what is pending, as far as the query is narrowed further. */
function finishing(db: Db, now: Instant) {
  return db
    .updateTable('todos')
    .set({ state: 'done', updated_at: now })
    .where('state', '=', 'pending')
}

/** Marks one of the user's to-dos, or all that wait, as done. */
export async function finishTodos(
  db: Db,
  userId: number,
  id: number | null,
  now: Instant,
): Promise<void> {
  const query = finishing(db, now).where('user_id', '=', userId)
  await (id === null ? query : query.where('id', '=', id)).execute()
}

/** What to-dos are about. */
interface Target {
  readonly type: string
  readonly id: number
}

/** What was dealt with waits for nobody any more: completes the to-dos about a target, of all or of one user. */
export async function finishTodosAbout(
  db: Db,
  target: Target,
  now: Instant,
  userId?: number,
): Promise<void> {
  const query = finishing(db, now)
    .where('target_type', '=', target.type)
    .where('target_id', '=', target.id)
  await (userId === undefined ? query : query.where('user_id', '=', userId)).execute()
}

/** Marks the to-dos of an action as done that somebody left with others, or all of them. */
export async function finishTodosBy(
  db: Db,
  about: Target & { readonly action: string; readonly authorId?: number },
  now: Instant,
): Promise<void> {
  const query = finishing(db, now)
    .where('target_type', '=', about.type)
    .where('target_id', '=', about.id)
    .where('action_name', '=', about.action)
  const { authorId } = about
  await (authorId === undefined ? query : query.where('author_id', '=', authorId)).execute()
}

/** What a to-do is about: its project, author, target and note, as far as they still exist. */
export async function findTodoContext(
  db: Db,
  row: Pick<
    RowOf<'todos'>,
    'project_id' | 'group_id' | 'author_id' | 'target_type' | 'target_id' | 'note_id'
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
      'namespaces.full_name as namespace_full_name',
    ])
    .where('projects.id', '=', row.project_id ?? 0)
    .executeTakeFirst()
  const author = await db
    .selectFrom('users')
    .select(userBasicColumns)
    .where('users.id', '=', row.author_id ?? 0)
    .executeTakeFirst()
  const target = await findTarget(db, row.target_type, row.target_id)
  const note = await db
    .selectFrom('notes')
    .select('body')
    .where('id', '=', row.note_id ?? 0)
    .executeTakeFirst()
  const group = await db
    .selectFrom('namespaces')
    .select(['id', 'name', 'path', 'kind', 'full_path', 'full_name', 'parent_id', 'description'])
    .select(['avatar_file', 'avatar_name', 'created_at', 'updated_at'])
    .where('id', '=', row.group_id ?? 0)
    .executeTakeFirst()
  return { project, group, author, target, note }
}

function findTarget(db: Db, type: string, id: number) {
  if (type === 'Alert') {
    return db
      .selectFrom('alerts')
      .select(['iid', 'title', 'description', 'created_at', 'updated_at'])
      .select(sql<string>`CASE status WHEN 2 THEN 'closed' ELSE 'opened' END`.as('state'))
      .where('id', '=', id)
      .executeTakeFirst()
  }
  return db
    .selectFrom(type === 'Issue' ? 'issues' : 'merge_requests')
    .select(['iid', 'title', 'description', 'state', 'created_at', 'updated_at'])
    .where('id', '=', id)
    .executeTakeFirst()
}
