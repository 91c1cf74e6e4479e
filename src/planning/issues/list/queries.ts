import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import { seesIssue } from '../../../access/visible-issues.ts'
import type { Viewer } from '../../../access/visible-queries.ts'
import type { Day } from '../../../base/clock.ts'
import type { Page, Paged } from '../../../base/page.ts'
import { namespacesBelow } from '../../../store/hierarchy.ts'
import { listPage } from '../../../store/pages.ts'
import type { Db } from '../../../store/schema.ts'
import { matchesSearch } from '../../../store/search.ts'
import { inDays } from '../../quick-actions/due-date.ts'
import { type IssueRow, issueQuery } from '../queries.ts'
import type { IssueListQuery } from './params.ts'

/** Where a list of issues looks. */
export type IssueScope =
  | { readonly kind: 'all' }
  | { readonly kind: 'project'; readonly projectId: number }
  | { readonly kind: 'group'; readonly groupId: number }
  | { readonly kind: 'milestone'; readonly milestoneId: number }

type Condition = Expression<SqlBool>

const isKept = sql<SqlBool>`projects.archived = 0`

function scopeConditions(scope: IssueScope, query: IssueListQuery): Condition[] {
  switch (scope.kind) {
    case 'all':
      return query.non_archived === false ? [] : [isKept]
    case 'project':
      return [sql<SqlBool>`issues.project_id = ${scope.projectId}`]
    case 'milestone':
      return [sql<SqlBool>`issues.milestone_id = ${scope.milestoneId}`]
    case 'group': {
      const inside = sql<SqlBool>`projects.namespace_id IN ${namespacesBelow(scope.groupId)}`
      return query.non_archived === false ? [inside] : [inside, isKept]
    }
  }
}

// The issues that somebody or something has to do with: from that side, where an index leads.
const among = (ids: RawBuilder<unknown>) => sql<SqlBool>`issues.id IN (${ids})`
const userNamed = (name: string) => sql`(SELECT id FROM users WHERE username = ${name})`
const isAssigned = (user: RawBuilder<unknown>) =>
  among(sql`SELECT subject_id FROM assignees WHERE subject_type = 'issue' AND user_id = ${user}`)
const hasAssignee = sql<SqlBool>`EXISTS (SELECT 1 FROM assignees a WHERE a.subject_type = 'issue'
  AND a.subject_id = issues.id)`
const hasLabel = sql<SqlBool>`EXISTS (SELECT 1 FROM label_links l WHERE l.subject_type = 'issue'
  AND l.subject_id = issues.id)`
const isLabelled = (title: string) =>
  among(sql`SELECT subject_id FROM label_links WHERE subject_type = 'issue'
    AND label_id IN (SELECT id FROM labels WHERE title = ${title})`)
const reacted = (userId: number, emoji: string) =>
  sql<SqlBool>`EXISTS (SELECT 1 FROM award_emoji e WHERE e.awardable_type = 'Issue' AND e.awardable_id = issues.id
    AND e.user_id = ${userId} AND e.name = ${emoji})`
const reactedAtAll = (userId: number) =>
  sql<SqlBool>`EXISTS (SELECT 1 FROM award_emoji e WHERE e.awardable_type = 'Issue' AND e.awardable_id = issues.id
    AND e.user_id = ${userId})`
const everything = sql<SqlBool>`1 = 1`
const nothing = sql<SqlBool>`1 = 0`
const milestoneTitled = (title: string) =>
  among(
    sql`SELECT id FROM issues WHERE milestone_id IN (SELECT id FROM milestones WHERE title = ${title})`,
  )
const not = (condition: Condition) => sql<SqlBool>`NOT (${condition})`

function peopleConditions(viewer: Viewer, query: IssueListQuery): Condition[] {
  const found: Condition[] = []
  const me = sql`${viewer.userId ?? 0}`
  const scope = query.scope?.replaceAll('-', '_')
  if (scope === 'created_by_me') found.push(sql<SqlBool>`issues.author_id = ${me}`)
  if (scope === 'assigned_to_me') found.push(isAssigned(me))
  if (query.author_id !== undefined) found.push(sql<SqlBool>`issues.author_id = ${query.author_id}`)
  if (query.author_username !== undefined) {
    found.push(sql<SqlBool>`issues.author_id = ${userNamed(query.author_username)}`)
  }
  if (query.assignee_id !== undefined) found.push(assigneeCondition(query.assignee_id))
  for (const name of query.assignee_username ?? []) found.push(isAssigned(userNamed(name)))
  if (query.my_reaction_emoji !== undefined) {
    found.push(reactionCondition(viewer, query.my_reaction_emoji))
  }
  return found
}

/** Who is not signed in has no reactions. */
function reactionCondition(viewer: Viewer, emoji: string): Condition {
  if (viewer.userId === null) return emoji.toLowerCase() === 'none' ? everything : nothing
  if (emoji.toLowerCase() === 'none') return not(reactedAtAll(viewer.userId))
  return emoji.toLowerCase() === 'any' ? reactedAtAll(viewer.userId) : reacted(viewer.userId, emoji)
}

function assigneeCondition(asked: number | string): Condition {
  if (asked === 'None' || asked === 0) return not(hasAssignee)
  return asked === 'Any' ? hasAssignee : isAssigned(sql`${asked}`)
}

function labelConditions(query: IssueListQuery): Condition[] {
  return (query.labels ?? []).map((title) => {
    if (title.toLowerCase() === 'none') return not(hasLabel)
    return title.toLowerCase() === 'any' ? hasLabel : isLabelled(title)
  })
}

/** Filters for fields that no issue has here: `None` finds every issue, any other value finds none. */
function absentConditions(query: IssueListQuery): Condition[] {
  const { health_status, epic_id, iteration_id, iteration_title } = query
  const asked = [health_status, epic_id, iteration_id, iteration_title]
  const wanted = asked.filter((one) => one !== undefined).map(String)
  const contact = query.crm_contact_id ?? query.crm_organization_id
  const none = contact === undefined && wanted.every((one) => one.toLowerCase() === 'none')
  return none ? [] : [nothing]
}

function milestoneConditions(
  query: Pick<IssueListQuery, 'milestone' | 'milestone_id'>,
  today: Day,
): Condition[] {
  const asked = query.milestone_id ?? query.milestone
  if (asked === undefined || asked === '') return []
  if (typeof asked === 'number') return [sql<SqlBool>`issues.milestone_id = ${asked}`]
  switch (asked.toLowerCase()) {
    case 'none':
      return [sql<SqlBool>`issues.milestone_id IS NULL`]
    case 'any':
      return [sql<SqlBool>`issues.milestone_id IS NOT NULL`]
    case 'upcoming':
      return [
        sql<SqlBool>`issues.milestone_id IN (SELECT id FROM milestones WHERE state = 'active' AND due_date > ${today})`,
      ]
    case 'started':
      return [
        sql<SqlBool>`issues.milestone_id IN
          (SELECT id FROM milestones WHERE state = 'active' AND start_date <= ${today})`,
      ]
    default:
      return [milestoneTitled(asked)]
  }
}

function textConditions(query: IssueListQuery): Condition[] {
  if (!query.search) return []
  const fields = query.in && query.in.length > 0 ? query.in : ['title', 'description']
  return matchesSearch(
    query.search,
    fields.map((field) => `issues.${field}`),
  )
}

function plainConditions(query: IssueListQuery): Condition[] {
  const found: Condition[] = []
  if (query.iids) found.push(sql<SqlBool>`issues.iid IN (${sql.join([0, ...query.iids])})`)
  if (query.confidential !== undefined) {
    found.push(sql<SqlBool>`issues.confidential = ${query.confidential ? 1 : 0}`)
  }
  if (query.issue_type && query.issue_type.length > 0) {
    found.push(sql<SqlBool>`issues.issue_type IN (${sql.join(query.issue_type)})`)
  }
  if (query.weight === 'None') found.push(sql<SqlBool>`issues.weight IS NULL`)
  else if (query.weight === 'Any') found.push(sql<SqlBool>`issues.weight IS NOT NULL`)
  else if (query.weight !== undefined) found.push(sql<SqlBool>`issues.weight = ${query.weight}`)
  if (query.created_after) found.push(sql<SqlBool>`issues.created_at >= ${query.created_after}`)
  if (query.created_before) found.push(sql<SqlBool>`issues.created_at <= ${query.created_before}`)
  if (query.updated_after) found.push(sql<SqlBool>`issues.updated_at >= ${query.updated_after}`)
  if (query.updated_before) found.push(sql<SqlBool>`issues.updated_at <= ${query.updated_before}`)
  return found
}

function negated(viewer: Viewer, query: IssueListQuery): Condition[] {
  const given = query.not
  if (!given) return []
  const found: Condition[] = (given.labels ?? []).map((title) => not(isLabelled(title)))
  for (const condition of milestoneConditions(given, viewer.today)) {
    found.push(sql<SqlBool>`coalesce(${not(condition)}, 1)`)
  }
  if (given.author_id !== undefined)
    found.push(sql<SqlBool>`issues.author_id IS NOT ${given.author_id}`)
  if (given.author_username) {
    found.push(sql<SqlBool>`issues.author_id IS NOT ${userNamed(given.author_username)}`)
  }
  if (given.assignee_id !== undefined) found.push(not(isAssigned(sql`${given.assignee_id}`)))
  for (const name of given.assignee_username ?? []) found.push(not(isAssigned(userNamed(name))))
  if (given.iids) found.push(sql<SqlBool>`issues.iid NOT IN (${sql.join([0, ...given.iids])})`)
  if (given.my_reaction_emoji && viewer.userId !== null) {
    found.push(not(reacted(viewer.userId, given.my_reaction_emoji)))
  }
  if (given.weight !== undefined) found.push(sql<SqlBool>`issues.weight IS NOT ${given.weight}`)
  return found
}

function monthOf(day: Day, plus: number): { first: Day; last: Day } {
  const [year = 0, month = 1] = day.split('-').map(Number)
  const first = new Date(Date.UTC(year, month - 1 + plus, 1)).toISOString().slice(0, 10)
  const last = new Date(Date.UTC(year, month + plus, 0)).toISOString().slice(0, 10)
  return { first, last }
}

function dueConditions(query: IssueListQuery, today: Day): Condition[] {
  const between = (from: Day, to: Day) => [sql<SqlBool>`issues.due_date BETWEEN ${from} AND ${to}`]
  const weekday = (new Date(`${today}T00:00:00Z`).getUTCDay() + 6) % 7
  switch (query.due_date) {
    case '0':
      return [sql<SqlBool>`issues.due_date IS NULL`]
    case 'any':
      return [sql<SqlBool>`issues.due_date IS NOT NULL`]
    case 'today':
      return between(today, today)
    case 'tomorrow':
      return between(inDays(today, 1), inDays(today, 1))
    case 'overdue':
      return [sql<SqlBool>`issues.due_date < ${today}`]
    case 'week':
      return between(inDays(today, -weekday), inDays(today, 6 - weekday))
    case 'month':
      return between(monthOf(today, 0).first, monthOf(today, 0).last)
    case 'next_month_and_previous_two_weeks':
      return between(inDays(today, -14), monthOf(today, 1).last)
    default:
      return []
  }
}

function filtered(db: Db, viewer: Viewer, scope: IssueScope, query: IssueListQuery) {
  const conditions = [
    seesIssue(viewer),
    ...scopeConditions(scope, query),
    ...peopleConditions(viewer, query),
    ...labelConditions(query),
    ...milestoneConditions(query, viewer.today),
    ...textConditions(query),
    ...plainConditions(query),
    ...absentConditions(query),
    ...negated(viewer, query),
    ...dueConditions(query, viewer.today),
  ]
  let found = db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select('issues.id')
    .where('projects.pending_delete', '=', 0)
  for (const condition of conditions) found = found.where(condition)
  return found
}

const milestoneDue = sql`(SELECT m.due_date FROM milestones m WHERE m.id = issues.milestone_id)`
const labelPriority = sql`(SELECT min(p.priority) FROM label_links l JOIN label_priorities p ON p.label_id = l.label_id
  AND p.project_id = issues.project_id WHERE l.subject_type = 'issue' AND l.subject_id = issues.id)`

/** What the orders go by, one after the other; rows without a value go last either way. */
const ORDERS: Readonly<Record<string, readonly RawBuilder<unknown>[]>> = {
  id: [],
  created_at: [sql`issues.created_at`],
  updated_at: [sql`issues.updated_at`],
  title: [sql`issues.title`],
  due_date: [sql`issues.due_date`],
  relative_position: [sql`issues.relative_position`],
  weight: [sql`issues.weight`],
  milestone_due: [milestoneDue],
  popularity: [
    sql`(SELECT count(*) FROM award_emoji e WHERE e.awardable_type = 'Issue'
      AND e.awardable_id = issues.id AND e.name = 'thumbsup')`,
  ],
  label_priority: [labelPriority],
  priority: [milestoneDue, labelPriority],
}

/** What keyset pages go by, and whether rows may lack it. */
const KEYS = {
  id: ['issues.id'],
  created_at: ['issues.created_at'],
  updated_at: ['issues.updated_at'],
  title: ['issues.title'],
  weight: ['issues.weight', { nullable: true }],
  due_date: ['issues.due_date', { nullable: true }],
  relative_position: ['issues.relative_position', { nullable: true }],
} as const
const NEVER_NULL = ['created_at', 'updated_at', 'title']

/**
 * A page of the issues of a scope that the viewer sees. Ids are sorted and counted first: an index often holds all that
 * this takes, and whole rows would weigh on every sort.
 */
export async function listIssueRows(
  db: Db,
  viewer: Viewer,
  scope: IssueScope,
  query: IssueListQuery,
  page: Page,
): Promise<Paged<IssueRow>> {
  const { items, ...counted } = await listIssueIds(db, viewer, scope, query, page)
  const ids = items.map((item) => item.id)
  const rows = ids.length === 0 ? [] : await issueQuery(db).where('issues.id', 'in', ids).execute()
  const byId = new Map(rows.map((row) => [row.id, row]))
  return { ...counted, items: ids.flatMap((id) => byId.get(id) ?? []) }
}

function listIssueIds(
  db: Db,
  viewer: Viewer,
  scope: IssueScope,
  query: IssueListQuery,
  page: Page,
): Promise<Paged<{ readonly id: number }>> {
  let found = filtered(db, viewer, scope, query)
  if (query.state === 'opened' || query.state === 'closed')
    found = found.where('issues.state', '=', query.state)
  if (page.kind === 'keyset') {
    const [column, nullable] = KEYS[page.orderBy as keyof typeof KEYS]
    const keyed = found.select((is) => is.ref(column).as('key'))
    return listPage(db, keyed, page, {
      id: 'issues.id',
      idOf: (row) => row.id,
      keys: { [page.orderBy]: { column, ...nullable, valueOf: (row) => row.key } },
    })
  }
  const by = query.order_by ?? 'created_at'
  // What people put into an order by hand reads from its beginning.
  const direction = query.sort ?? (by === 'relative_position' ? 'asc' : 'desc')
  const nulls = sql.raw(NEVER_NULL.includes(by) ? '' : 'NULLS LAST')
  let ordered = found
  for (const order of ORDERS[by] ?? []) {
    ordered = ordered.orderBy(sql`${order} ${sql.raw(direction)} ${nulls}`)
  }
  return listPage(db, ordered.orderBy('issues.id', direction), page)
}

/** How many issues of a scope are open and closed. */
export async function countIssues(
  db: Db,
  viewer: Viewer,
  scope: IssueScope,
  query: IssueListQuery,
) {
  const found = filtered(db, viewer, scope, query)
    .clearSelect()
    .select(['issues.state', (expression) => expression.fn.countAll<number>().as('count')])
    .groupBy('issues.state')
  const rows = await found.execute()
  const of = (state: string) => rows.find((row) => row.state === state)?.count ?? 0
  return { all: of('opened') + of('closed'), closed: of('closed'), opened: of('opened') }
}
