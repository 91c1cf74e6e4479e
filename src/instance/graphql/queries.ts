import {
  type RawBuilder,
  type ReferenceExpression,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import { countUpTo } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'

/** How a connection is read: newest first, behind the id of a cursor. */
export interface Window {
  readonly limit: number
  readonly after: number | undefined
}

export const MOST_COUNTED = 10_000

/** The rows of a query in a window, and how many there are in all. */
export async function readWindow<DB, TB extends keyof DB, O>(
  db: Db,
  query: SelectQueryBuilder<DB, TB, O>,
  id: ReferenceExpression<DB, TB>,
  { after, limit }: Window,
) {
  const behind =
    after === undefined ? query : query.where(sql<SqlBool>`${sql.ref(String(id))} < ${after}`)
  const rows = await behind.orderBy(id, 'desc').limit(limit).execute()
  return { rows: rows as O[], count: () => countUpTo(db, query, MOST_COUNTED) }
}

export function issuesQuery(db: Db, projectId: number, sees: RawBuilder<SqlBool>, state?: string) {
  const query = db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .selectAll('issues')
    .where('issues.project_id', '=', projectId)
    .where(sees)
  if (state === undefined || state === 'all') return query
  // No issue is ever `locked`.
  const wanted = (['opened', 'closed'] as const).filter((one) => one === state)
  return query.where('issues.state', 'in', wanted)
}

export function mergeRequestsQuery(db: Db, projectId: number, state?: string) {
  const query = db
    .selectFrom('merge_requests')
    .selectAll()
    .where('target_project_id', '=', projectId)
  const known = ['opened', 'closed', 'merged', 'locked'] as const
  const wanted = known.find((one) => one === state)
  return wanted ? query.where('state', '=', wanted) : query
}

interface PipelinesAsked {
  readonly projectId: number
  readonly ref?: string | undefined
  readonly sha?: string | undefined
}

/** Children are part of the pipelines that started them, as in lists of the API. */
export function pipelinesQuery(db: Db, asked: PipelinesAsked) {
  let query = db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', asked.projectId)
    .where('source', '<>', 'parent_pipeline')
  if (asked.ref !== undefined) query = query.where('ref', '=', asked.ref)
  if (asked.sha !== undefined) query = query.where('sha', '=', asked.sha)
  return query
}
