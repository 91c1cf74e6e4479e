import type { RawBuilder, SqlBool } from 'kysely'
import { countUpTo } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'

/** How a connection is read: newest first, behind the id of a cursor. */
export interface Window {
  readonly limit: number
  readonly after: number | undefined
}

export const MOST_COUNTED = 10_000

function issuesQuery(db: Db, projectId: number, sees: RawBuilder<SqlBool>, state?: string) {
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

export async function listIssues(
  db: Db,
  asked: { projectId: number; sees: RawBuilder<SqlBool>; state?: string | undefined },
  window: Window,
) {
  const query = issuesQuery(db, asked.projectId, asked.sees, asked.state)
  const after = window.after === undefined ? query : query.where('issues.id', '<', window.after)
  return after.orderBy('issues.id', 'desc').limit(window.limit).execute()
}

export function countIssues(
  db: Db,
  asked: { projectId: number; sees: RawBuilder<SqlBool>; state?: string | undefined },
): Promise<number> {
  return countUpTo(db, issuesQuery(db, asked.projectId, asked.sees, asked.state), MOST_COUNTED)
}

function mergeRequestsQuery(db: Db, projectId: number, state?: string) {
  const query = db
    .selectFrom('merge_requests')
    .selectAll()
    .where('target_project_id', '=', projectId)
  const known = ['opened', 'closed', 'merged', 'locked'] as const
  const wanted = known.find((one) => one === state)
  return wanted ? query.where('state', '=', wanted) : query
}

export async function listMergeRequests(
  db: Db,
  asked: { projectId: number; state?: string | undefined },
  window: Window,
) {
  const query = mergeRequestsQuery(db, asked.projectId, asked.state)
  const after = window.after === undefined ? query : query.where('id', '<', window.after)
  return after.orderBy('id', 'desc').limit(window.limit).execute()
}

export function countMergeRequests(
  db: Db,
  asked: { projectId: number; state?: string | undefined },
): Promise<number> {
  return countUpTo(db, mergeRequestsQuery(db, asked.projectId, asked.state), MOST_COUNTED)
}

interface PipelinesAsked {
  readonly projectId: number
  readonly ref?: string | undefined
  readonly sha?: string | undefined
}

/** Children are part of the pipelines that started them, as in lists of the API. */
function pipelinesQuery(db: Db, asked: PipelinesAsked) {
  let query = db
    .selectFrom('pipelines')
    .selectAll()
    .where('project_id', '=', asked.projectId)
    .where('source', '<>', 'parent_pipeline')
  if (asked.ref !== undefined) query = query.where('ref', '=', asked.ref)
  if (asked.sha !== undefined) query = query.where('sha', '=', asked.sha)
  return query
}

export async function listPipelines(db: Db, asked: PipelinesAsked, window: Window) {
  const query = pipelinesQuery(db, asked)
  const after = window.after === undefined ? query : query.where('id', '<', window.after)
  return after.orderBy('id', 'desc').limit(window.limit).execute()
}

export function countPipelines(db: Db, asked: PipelinesAsked): Promise<number> {
  return countUpTo(db, pipelinesQuery(db, asked), MOST_COUNTED)
}
