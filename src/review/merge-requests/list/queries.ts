import {
  type Expression,
  type ExpressionBuilder,
  type Nullable,
  type RawBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import { Role } from '../../../access/roles.ts'
import { seesFeature, type Viewer } from '../../../access/visible-queries.ts'
import type { OffsetPage, Paged } from '../../../base/page.ts'
import { namespacesBelow } from '../../../store/hierarchy.ts'
import { listPage } from '../../../store/pages.ts'
import type { Db, Schema } from '../../../store/schema.ts'
import { matchesSearch } from '../../../store/search.ts'
import { listByIds } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import { type ExcludedFilters, type IdOrWord, type ListFilters, readIdOrWord } from './params.ts'

/** Where a list looks: one project, a group with all below it, or everywhere. */
export interface ListPlace {
  readonly projectId?: number | undefined
  readonly groupId?: number | undefined
  readonly milestoneId?: number | undefined
}

type Tables = Schema & { projects: Nullable<Schema['projects']> }
type Where = ExpressionBuilder<Tables, 'merge_requests' | 'projects'>
type Condition = Expression<SqlBool>

/**
 * One page of merge requests in the projects that the viewer sees (docs/contract/D §1.10). Ids are sorted and counted first: an
 * index often holds all that this takes, and whole rows would weigh on every sort.
 */
export async function listMergeRequests(
  db: Db,
  place: ListPlace,
  viewer: Viewer,
  filters: ListFilters,
  page: OffsetPage,
): Promise<Paged<MergeRequestRow>> {
  const me = viewer.userId
  const query = db
    .selectFrom('merge_requests')
    // Of a project's own list nothing asks the project, and SQLite leaves the join out.
    .leftJoin('projects', 'projects.id', 'merge_requests.target_project_id')
    .select('merge_requests.id')
    .where((where) =>
      where.and([
        ...placeConditions(where, place, viewer),
        ...plainConditions(where, filters),
        ...timeConditions(where, filters),
        ...scopeConditions(filters.scope, me),
        ...namedConditions(filters, me),
        ...mergerConditions(filters),
        ...approvalConditions(filters),
        ...exclusions(filters.not ?? {}, me),
      ]),
    )
    .$call((query) => orderOf(filters).reduce((ordered, by) => ordered.orderBy(by), query))
  const { items, ...counted } = await listPage(db, query, page)
  const rows = await listByIds(
    db,
    items.map((item) => item.id),
  )
  const byId = new Map(rows.map((row) => [row.id, row]))
  return { ...counted, items: items.flatMap(({ id }) => byId.get(id) ?? []) }
}

/** Who may see the list of one project was checked by its access. */
function placeConditions(where: Where, place: ListPlace, viewer: Viewer): Condition[] {
  if (place.projectId !== undefined) {
    return [where('merge_requests.target_project_id', '=', place.projectId)]
  }
  const conditions: Condition[] = [
    where('projects.pending_delete', '=', 0),
    seesFeature(viewer, 'merge_requests', Role.planner),
  ]
  if (place.milestoneId !== undefined) {
    conditions.push(where('merge_requests.milestone_id', '=', place.milestoneId))
  }
  if (place.groupId !== undefined) {
    conditions.push(sql<SqlBool>`projects.namespace_id IN ${namespacesBelow(place.groupId)}`)
  }
  return conditions
}

function plainConditions(where: Where, filters: ListFilters): Condition[] {
  const found: Condition[] = []
  const { state, iids, search } = filters
  if (state && state !== 'all') found.push(where('merge_requests.state', '=', state))
  if (iids && iids.length > 0) found.push(where('merge_requests.iid', 'in', iids))
  const draft = filters.draft ?? (filters.wip === undefined ? undefined : filters.wip === 'yes')
  // Literal, as the index of drafts has it.
  if (draft !== undefined) found.push(where('merge_requests.draft', '=', where.lit(draft ? 1 : 0)))
  found.push(...fromBranch(filters.source_branch))
  found.push(...same('target_branch', filters.target_branch))
  found.push(...same('source_project_id', filters.source_project_id))
  if (filters.non_archived !== false && filters.non_archived !== undefined) {
    found.push(where('projects.archived', '=', 0))
  }
  if (search !== undefined && search.trim() !== '') found.push(...searchIn(search, filters.in))
  return [...found, ...deployed(filters)]
}

/** Those that a deployment brought in which succeeded, where and when the filters say. */
function deployed(filters: ListFilters): Condition[] {
  const { environment, deployed_after: after, deployed_before: before } = filters
  if (environment === undefined && after === undefined && before === undefined) return []
  const named = environment === undefined ? sql`` : sql`AND e.name = ${environment}`
  const since = after === undefined ? sql`` : sql`AND d.finished_at >= ${after}`
  const until = before === undefined ? sql`` : sql`AND d.finished_at <= ${before}`
  return [
    sql<SqlBool>`EXISTS (SELECT 1 FROM deployed_merge_requests l
      JOIN deployments d ON d.id = l.deployment_id
      JOIN environments e ON e.id = d.environment_id
      WHERE l.merge_request_id = merge_requests.id AND d.status = 'success' ${named} ${since} ${until})`,
  ]
}

/** Few come from a branch: they are found by its index, however the list is ordered. */
function fromBranch(branch: string | undefined): Condition[] {
  if (branch === undefined) return []
  return [among(sql`SELECT id FROM merge_requests WHERE source_branch = ${branch}`)]
}

function same(column: string, value: string | number | undefined): Condition[] {
  return value === undefined
    ? []
    : [sql<SqlBool>`${sql.ref(`merge_requests.${column}`)} = ${value}`]
}

/** Every word must occur in the title or the description, letter case aside. */
function searchIn(search: string, fields: readonly string[] | undefined): Condition[] {
  const columns = ['title', 'description'].filter(
    (name) => !fields?.length || fields.includes(name),
  )
  if (columns.length === 0) return [sql<SqlBool>`1 = 0`]
  return matchesSearch(
    search,
    columns.map((name) => `merge_requests.${name}`),
  )
}

const timeFilters = {
  created_after: ['created_at', '>='],
  created_before: ['created_at', '<='],
  updated_after: ['updated_at', '>='],
  updated_before: ['updated_at', '<='],
  merged_after: ['merged_at', '>='],
  merged_before: ['merged_at', '<='],
} as const

function timeConditions(where: Where, filters: ListFilters): Condition[] {
  return Object.entries(timeFilters).flatMap(([name, [column, operator]]) => {
    const value = filters[name as keyof typeof timeFilters]
    return value === undefined ? [] : [where(`merge_requests.${column}`, operator, value)]
  })
}

const userId = (username: string) => sql`(SELECT id FROM users WHERE username = ${username})`

type Named = Pick<
  ListFilters,
  | 'labels'
  | 'milestone'
  | 'author_id'
  | 'author_username'
  | 'assignee_id'
  | 'assignee_username'
  | 'reviewer_id'
  | 'reviewer_username'
  | 'my_reaction_emoji'
>

/** People and plans that lists may ask for, and leave out as well. */
function namedConditions(filters: Named, me: number | null): Condition[] {
  const found = (filters.labels ?? []).map(labelled)
  if (filters.milestone !== undefined) found.push(inMilestone(filters.milestone))
  found.push(...same('author_id', filters.author_id))
  if (filters.author_username !== undefined) {
    found.push(sql<SqlBool>`merge_requests.author_id = ${userId(filters.author_username)}`)
  }
  if (filters.assignee_id !== undefined) found.push(someone(assignees, filters.assignee_id))
  for (const name of filters.assignee_username ?? []) found.push(assignedTo(userId(name)))
  if (filters.reviewer_id !== undefined) found.push(someone(reviewers, filters.reviewer_id))
  if (filters.reviewer_username !== undefined) {
    found.push(reviewedBy(userId(filters.reviewer_username)))
  }
  if (filters.my_reaction_emoji !== undefined) found.push(reacted(filters.my_reaction_emoji, me))
  return found
}

function mergerConditions({ merge_user_id: id, merge_user_username: name }: ListFilters) {
  const found = same('merge_user_id', id)
  if (name !== undefined) found.push(sql<SqlBool>`merge_requests.merge_user_id = ${userId(name)}`)
  return found
}

function scopeConditions(scope: ListFilters['scope'], me: number | null): Condition[] {
  const word = scope?.replaceAll('-', '_')
  if (word === 'created_by_me') return [sql<SqlBool>`merge_requests.author_id = ${me}`]
  if (word === 'assigned_to_me') return [assignedTo(me)]
  if (word === 'reviews_for_me') return [reviewedBy(me)]
  return []
}

// The merge requests that somebody has to do with: from the user's side, where an index leads.
const assignees = sql`SELECT subject_id FROM assignees WHERE subject_type = 'merge_request'`
const reviewers = sql`SELECT merge_request_id FROM merge_request_reviewers WHERE 1 = 1`
const approvers = sql`SELECT merge_request_id FROM approvals WHERE 1 = 1`

function assignedTo(user: unknown): Condition {
  return among(sql`${assignees} AND user_id = ${user}`)
}

function reviewedBy(user: unknown): Condition {
  return among(sql`${reviewers} AND user_id = ${user}`)
}

function among(ids: RawBuilder<unknown>): Condition {
  return sql<SqlBool>`merge_requests.id IN (${ids})`
}

function someone(of: RawBuilder<unknown>, wanted: IdOrWord): Condition {
  if (wanted === 'any') return among(of)
  if (wanted === 'none' || wanted === 0) return sql<SqlBool>`merge_requests.id NOT IN (${of})`
  return among(sql`${of} AND user_id = ${wanted}`)
}

const labelLinks = sql`SELECT subject_id FROM label_links WHERE subject_type = 'merge_request'`
const anyLabel = sql`SELECT 1 FROM label_links WHERE subject_type = 'merge_request'
  AND subject_id = merge_requests.id`

function labelled(title: string): Condition {
  const word = title.toLowerCase()
  if (word === 'any') return sql<SqlBool>`EXISTS (${anyLabel})`
  if (word === 'none') return sql<SqlBool>`NOT EXISTS (${anyLabel})`
  return among(sql`${labelLinks} AND label_id IN (SELECT id FROM labels WHERE title = ${title})`)
}

function inMilestone(title: string): Condition {
  const word = title.toLowerCase()
  if (word === 'none') return sql<SqlBool>`merge_requests.milestone_id IS NULL`
  if (word === 'any') return sql<SqlBool>`merge_requests.milestone_id IS NOT NULL`
  return among(sql`SELECT id FROM merge_requests WHERE milestone_id IN
    (SELECT id FROM milestones WHERE title = ${title})`)
}

function reacted(emoji: string, me: number | null): Condition {
  const word = emoji.toLowerCase()
  const named = word === 'any' || word === 'none' ? sql`1 = 1` : sql`name = ${emoji}`
  const mine = sql`SELECT 1 FROM award_emoji WHERE awardable_type = 'MergeRequest'
    AND awardable_id = merge_requests.id AND user_id = ${me} AND ${named}`
  return word === 'none' ? sql<SqlBool>`NOT EXISTS (${mine})` : sql<SqlBool>`EXISTS (${mine})`
}

function approvalConditions(filters: ListFilters): Condition[] {
  const found: Condition[] = []
  if (filters.approved !== undefined) {
    found.push(someone(approvers, filters.approved === 'yes' ? 'any' : 'none'))
  }
  for (const word of filters.approved_by_ids ?? [])
    found.push(someone(approvers, readIdOrWord(word)))
  for (const name of filters.approved_by_usernames ?? []) {
    found.push(among(sql`${approvers} AND user_id = ${userId(name)}`))
  }
  for (const word of filters.approver_ids ?? []) found.push(namedByRules(readIdOrWord(word)))
  return found
}

/** Named by the rules that hold: those of the merge request itself, or of its project. */
function namedByRules(wanted: IdOrWord): Condition {
  const whom = typeof wanted === 'number' && wanted !== 0 ? sql`u.user_id = ${wanted}` : sql`1 = 1`
  const rules = sql`approval_rules r JOIN approval_rule_users u ON u.rule_id = r.id AND ${whom}`
  const named = sql<SqlBool>`(merge_requests.id IN
      (SELECT r.merge_request_id FROM ${rules} WHERE r.merge_request_id IS NOT NULL)
    OR (merge_requests.rules_overwritten = 0 AND merge_requests.target_project_id IN
      (SELECT r.project_id FROM ${rules} WHERE r.project_id IS NOT NULL)))`
  return wanted === 'none' || wanted === 0 ? sql<SqlBool>`NOT ${named}` : named
}

function exclusions(not: ExcludedFilters, me: number | null): Condition[] {
  const found = [
    ...namedConditions(not, me),
    ...same('source_branch', not.source_branch),
    ...same('target_branch', not.target_branch),
  ]
  // What is unknown (null) is not excluded.
  return found.map((condition) => sql<SqlBool>`NOT coalesce(${condition}, 0)`)
}

const popularity = sql`(SELECT count(*) FROM award_emoji WHERE awardable_type = 'MergeRequest'
  AND awardable_id = merge_requests.id AND name = 'thumbsup')`
const milestoneDue = sql`(SELECT due_date FROM milestones WHERE id = merge_requests.milestone_id)`
const labelPriority = sql`(SELECT min(p.priority) FROM label_links l JOIN label_priorities p
  ON p.label_id = l.label_id AND p.project_id = merge_requests.target_project_id
  WHERE l.subject_type = 'merge_request' AND l.subject_id = merge_requests.id)`

const orders: Readonly<Record<string, readonly RawBuilder<unknown>[]>> = {
  created_at: [sql`merge_requests.created_at`],
  updated_at: [sql`merge_requests.updated_at`],
  merged_at: [sql`merge_requests.merged_at`],
  title: [sql`merge_requests.title`],
  popularity: [popularity],
  milestone_due: [milestoneDue],
  label_priority: [labelPriority],
  priority: [milestoneDue, labelPriority],
}

/** Rows that lack what is ordered by come last, whichever way. */
function orderOf(filters: ListFilters): RawBuilder<unknown>[] {
  const direction = sql.raw(filters.sort ?? 'desc')
  const name = filters.order_by ?? 'created_at'
  const columns = orders[name] ?? []
  const never = name === 'created_at' || name === 'updated_at' || name === 'title'
  const places = sql.raw(never ? '' : 'NULLS LAST')
  return [
    ...columns.map((column) => sql`${column} ${direction} ${places}`),
    sql`merge_requests.id ${direction}`,
  ]
}
