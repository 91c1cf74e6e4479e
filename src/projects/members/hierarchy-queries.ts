import { type InferResult, sql } from 'kysely'
import { isLive } from '../../access/visible-queries.ts'
import type { Day, Instant } from '../../base/clock.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { type UserBasicRow, userBasicColumns } from '../../identity/users/basic.ts'
import { namespacesBelow } from '../../store/hierarchy.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { matchesSearch } from '../../store/search.ts'
import { ENDED, type EndedRow } from './rows.ts'

const projectsBelow = (topId: number) =>
  sql`(SELECT p.id FROM projects p WHERE p.pending_delete = 0 AND p.namespace_id IN ${namespacesBelow(topId)})`

const isLiveUser = (today: Day) => sql`m.user_id IS NOT NULL AND ${isLive(today)}`

/** Guests and below take no seat, unless a custom role makes them (docs/contract/A-resolved §9, top tier). */
const takesSeat = sql`(m.access_level > 10 OR m.member_role_id IS NOT NULL)`

/** How somebody came to be billable; the first that fits counts. */
export const MEMBERSHIP_TYPES = [
  'group_member',
  'project_member',
  'group_invite',
  'project_invite',
] as const

interface Counted {
  readonly user_id: number
  readonly type: number
  readonly level: number
  readonly joined_at: string
}

/** Users who take a seat in a top-level group, each once. */
function billable(topId: number, today: Day) {
  const invited = (kind: 'group' | 'project', type: number) => sql`
    SELECT m.user_id, ${type}, min(l.access_level, m.access_level), m.created_at
    FROM group_links l JOIN namespace_ancestors a ON a.namespace_id = l.group_id
    JOIN members m ON m.source_type = 'group' AND m.source_id = a.ancestor_id
    WHERE l.source_type = ${kind}
      AND l.source_id IN ${kind === 'group' ? namespacesBelow(topId) : projectsBelow(topId)}
      AND (l.expires_at IS NULL OR l.expires_at > ${today})
      AND (l.access_level > 10 OR l.member_role_id IS NOT NULL) AND ${takesSeat} AND ${isLiveUser(today)}`
  return sql<Counted>`(
    SELECT user_id, min(type) AS type, max(level) AS level, min(joined_at) AS joined_at FROM (
      SELECT m.user_id, 0 AS type, m.access_level AS level, m.created_at AS joined_at FROM members m
        WHERE m.source_type = 'group' AND m.source_id IN ${namespacesBelow(topId)}
          AND ${takesSeat} AND ${isLiveUser(today)}
      UNION ALL
      SELECT m.user_id, 1, m.access_level, m.created_at FROM members m
        JOIN users u ON u.id = m.user_id AND u.state = 'active'
        WHERE m.source_type = 'project' AND m.source_id IN ${projectsBelow(topId)}
          AND ${takesSeat} AND ${isLiveUser(today)}
      UNION ALL ${invited('group', 2)}
      UNION ALL ${invited('project', 3)}
    ) GROUP BY user_id)`
}

const sortColumns = {
  access_level_asc: ['counted.level', 'asc'],
  access_level_desc: ['counted.level', 'desc'],
  last_joined: ['counted.joined_at', 'desc'],
  name_asc: ['users.name', 'asc'],
  name_desc: ['users.name', 'desc'],
  oldest_joined: ['counted.joined_at', 'asc'],
  oldest_sign_in: ['users.current_sign_in_at', 'asc'],
  recent_sign_in: ['users.current_sign_in_at', 'desc'],
  last_activity_on_asc: ['users.last_activity_on', 'asc'],
  last_activity_on_desc: ['users.last_activity_on', 'desc'],
} as const satisfies Record<string, readonly [string, 'asc' | 'desc']>
export type BillableSort = keyof typeof sortColumns
export const BILLABLE_SORTS = Object.keys(sortColumns) as BillableSort[]

export type BillableRow = InferResult<ReturnType<typeof billableQuery>>[number]

function billableQuery(db: Db, topId: number, today: Day) {
  return db
    .selectFrom(billable(topId, today).as('counted'))
    .innerJoin('users', 'users.id', 'counted.user_id')
    .select(userBasicColumns)
    .select([
      'users.email',
      'users.last_activity_on',
      'users.current_sign_in_at as last_login_at',
      'users.created_at',
      'counted.type',
      'counted.level',
    ])
    .where('users.kind', '=', 'human')
}

/** A page of the users who take a seat in a top-level group. */
export async function listBillable(
  db: Db,
  topId: number,
  today: Day,
  given: { readonly search?: string | undefined; readonly sort?: BillableSort | undefined },
  page: OffsetPage,
): Promise<Paged<BillableRow>> {
  const columns = ['users.name', 'users.username', 'users.public_email']
  let query = billableQuery(db, topId, today).where((is) =>
    is.and(matchesSearch(given.search ?? '', columns)),
  )
  const [column, direction] = given.sort ? sortColumns[given.sort] : []
  if (column) query = query.orderBy(column, direction)
  return await listPage(db, query.orderBy('users.id'), page)
}

export async function findBillable(
  db: Db,
  topId: number,
  userId: number,
  today: Day,
): Promise<BillableRow | undefined> {
  return await billableQuery(db, topId, today).where('users.id', '=', userId).executeTakeFirst()
}

export type MembershipRow = InferResult<ReturnType<typeof membershipQuery>>[number]

function membershipQuery(db: Db, userId: number, today: Day) {
  return db
    .selectFrom('members as m')
    .leftJoin('projects', (join) =>
      join.onRef('projects.id', '=', 'm.source_id').on('m.source_type', '=', 'project'),
    )
    .innerJoin('namespaces as n', (join) =>
      join.on(
        sql<boolean>`n.id = CASE m.source_type WHEN 'group' THEN m.source_id ELSE projects.namespace_id END`,
      ),
    )
    .select([
      'm.id',
      'm.source_type',
      'm.source_id',
      'm.created_at',
      'm.expires_at',
      'm.access_level',
      sql<string>`n.full_name || coalesce(' / ' || projects.name, '')`.as('full_name'),
      sql<string>`coalesce(projects.full_path, n.full_path)`.as('full_path'),
    ])
    .where('m.user_id', '=', userId)
    .where(sql<boolean>`${isLiveUser(today)}`)
    .orderBy('m.id')
}

/** The user's direct memberships inside a hierarchy. */
export async function listMembershipsBelow(
  db: Db,
  topId: number,
  userId: number,
  today: Day,
  page: OffsetPage,
): Promise<Paged<MembershipRow>> {
  const query = membershipQuery(db, userId, today).where('n.id', 'in', namespacesBelow(topId))
  return await listPage(db, query, page)
}

/** The user's memberships of groups that were invited into a hierarchy. */
export async function listIndirectMemberships(
  db: Db,
  topId: number,
  userId: number,
  today: Day,
  page: OffsetPage,
): Promise<Paged<MembershipRow>> {
  const query = membershipQuery(db, userId, today)
    .where('m.source_type', '=', 'group')
    .where(
      sql<boolean>`m.source_id IN (SELECT a.ancestor_id FROM group_links l
        JOIN namespace_ancestors a ON a.namespace_id = l.group_id
        WHERE (l.expires_at IS NULL OR l.expires_at > ${today})
          AND ((l.source_type = 'group' AND l.source_id IN ${namespacesBelow(topId)})
            OR (l.source_type = 'project' AND l.source_id IN ${projectsBelow(topId)})))`,
    )
  return await listPage(db, query, page)
}

const inHierarchy = (topId: number) => sql<boolean>`(
  (source_type = 'group' AND source_id IN ${namespacesBelow(topId)})
  OR (source_type = 'project' AND source_id IN ${projectsBelow(topId)}))`

/** Memberships that wait for approval in a hierarchy, and invitations that nobody has accepted. */
export function listPending(db: Db, topId: number, page: OffsetPage) {
  const query = db
    .selectFrom('members')
    .select(['id as member_id', 'user_id', 'invite_email'])
    .select(sql<0 | 1>`state = 'active'`.as('approved'))
    .where(inHierarchy(topId))
    .where('requested_at', 'is', null)
    .where((eb) => eb.or([eb('state', '=', 'awaiting'), eb('user_id', 'is', null)]))
    .orderBy('id')
  return listPage(db, query, page)
}

/** Changes the state of memberships in a hierarchy; how many there were. */
export async function saveStates(
  db: Db,
  topId: number,
  which: { readonly memberId?: number; readonly userId?: number; readonly from?: 'awaiting' },
  state: 'active' | 'awaiting',
  now: Instant,
): Promise<number> {
  let query = db
    .updateTable('members')
    .set({ state, updated_at: now })
    .where(inHierarchy(topId))
    .where('requested_at', 'is', null)
    .where('user_id', 'is not', null)
  if (which.memberId !== undefined) query = query.where('id', '=', which.memberId)
  if (which.userId !== undefined) query = query.where('user_id', '=', which.userId)
  if (which.from !== undefined) query = query.where('state', '=', which.from)
  return Number((await query.executeTakeFirst()).numUpdatedRows)
}

/** Whether a row of members exists at all. */
export async function isMemberRow(db: Db, memberId: number): Promise<boolean> {
  const row = await db
    .selectFrom('members')
    .select('id')
    .where('id', '=', memberId)
    .executeTakeFirst()
  return row !== undefined
}

/** Deletes all memberships of a user in a hierarchy, and gives them back. */
export function deleteMemberships(db: Db, topId: number, userId: number): Promise<EndedRow[]> {
  return db
    .deleteFrom('members')
    .where('user_id', '=', userId)
    .where(inHierarchy(topId))
    .returning(ENDED)
    .execute()
}

/** How many users take a seat in a top-level group. */
export async function countBillable(db: Db, topId: number, today: Day): Promise<number> {
  const row = await db
    .selectFrom(billableQuery(db, topId, today).as('seats'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return row.count
}

/** Service accounts of a group: the users whom it brought in itself. */
export async function listProvisioned(
  db: Db,
  groupId: number,
  given: { readonly search?: string | undefined; readonly username?: string | undefined },
  page: OffsetPage,
): Promise<Paged<UserBasicRow>> {
  let query = db
    .selectFrom('users')
    .select(userBasicColumns)
    .where('users.service_source_type', '=', 'group')
    .where('users.service_source_id', '=', groupId)
    .where((is) => is.and(matchesSearch(given.search ?? '', ['users.name', 'users.username'])))
    .orderBy('users.id')
  if (given.username !== undefined) query = query.where('users.username', '=', given.username)
  return await listPage(db, query, page)
}
