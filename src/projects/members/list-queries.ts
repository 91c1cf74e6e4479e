import { type Expression, type SqlBool, sql } from 'kysely'
import type { SourceRef } from '../../access/sources.ts'
import type { Viewer } from '../../access/visible-queries.ts'
import type { Day } from '../../base/clock.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { userBasicColumns } from '../../identity/users/basic.ts'
import { listUsersBasic } from '../../identity/users/basic-queries.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { matchesSearch } from '../../store/search.ts'
import type { MemberView } from './entity.ts'

/** What lists of members may be narrowed by (docs/contract/A-resolved §9). */
export interface MemberFilters {
  readonly query?: string | undefined
  readonly user_ids?: readonly number[] | undefined
  readonly skip_users?: readonly number[] | undefined
  readonly state?: 'awaiting' | 'active' | undefined
}

export interface MemberScope {
  readonly source: SourceRef & { readonly namespaceId: number }
  /** With inherited and invited members. */
  readonly all: boolean
  readonly viewer: Viewer
  /** Whether the viewer has a role in the source. */
  readonly inside: boolean
}

const live = (alias: string, today: Day) => sql`${sql.ref(`${alias}.requested_at`)} IS NULL
  AND (${sql.ref(`${alias}.expires_at`)} IS NULL OR ${sql.ref(`${alias}.expires_at`)} > ${today})`

/** Ranks put the nearer membership first among equal levels: own, then group by group upwards, then invited. */
const INVITED_RANK = 100

/** The rows of a source, one for each user: `member_id`, `user_id` and the `level` that counts. */
function memberships(scope: MemberScope) {
  const { source } = scope
  const { today } = scope.viewer
  if (!scope.all) {
    return sql<Row>`(SELECT m.id AS member_id, m.user_id AS user_id, m.access_level AS level
      FROM members m WHERE m.source_type = ${source.type} AND m.source_id = ${source.id}
        AND m.user_id IS NOT NULL AND ${live('m', today)})`
  }
  // SQLite takes the other columns of a group from the row that has the maximum, and CROSS JOIN as the order to join in:
  // from the few groups, where it would begin with all members of the instance.
  return sql<Row>`(
    WITH chain(id, depth) AS MATERIALIZED (
      SELECT ancestor_id, depth FROM namespace_ancestors WHERE namespace_id = ${source.namespaceId}
    ), link(group_id, level) AS MATERIALIZED (
      SELECT l.group_id, max(l.access_level) FROM group_links l
      WHERE (l.expires_at IS NULL OR l.expires_at > ${today})
        AND ((l.source_type = 'group' AND l.source_id IN (SELECT id FROM chain))
          OR (l.source_type = ${source.type} AND l.source_id = ${source.id}))
        AND ${linkIsShown(scope)}
      GROUP BY l.group_id
    )
    SELECT user_id, member_id, level, max(level * 1000 - rank) AS score FROM (
      SELECT m.user_id, m.id AS member_id, m.access_level AS level, chain.depth + 1 AS rank
        FROM chain CROSS JOIN members m ON m.source_type = 'group' AND m.source_id = chain.id
        WHERE m.user_id IS NOT NULL AND ${live('m', today)}
      ${source.type === 'project' ? ownRows(source.id, today) : sql``}
      UNION ALL
      SELECT m.user_id, m.id, min(m.access_level, link.level), ${INVITED_RANK} + a.depth
        FROM link CROSS JOIN namespace_ancestors a ON a.namespace_id = link.group_id
        CROSS JOIN members m ON m.source_type = 'group' AND m.source_id = a.ancestor_id
        WHERE m.user_id IS NOT NULL AND m.state = 'active' AND ${live('m', today)}
    ) GROUP BY user_id)`
}

/** A group's own rows are those of its chain at depth 0; a project's come beside it. */
function ownRows(projectId: number, today: Day) {
  return sql`UNION ALL SELECT m.user_id, m.id, m.access_level, 0 FROM members m
    WHERE m.source_type = 'project' AND m.source_id = ${projectId}
      AND m.user_id IS NOT NULL AND ${live('m', today)}`
}

interface Row {
  readonly member_id: number
  readonly user_id: number
  readonly level: number
}

/** Members of invited groups show when the group is public, or the viewer is in it or in the source (docs/contract/A). */
function linkIsShown({ viewer, inside }: MemberScope) {
  const { today } = viewer
  if (viewer.admin || inside) return sql`1 = 1`
  return sql`(l.group_id IN (SELECT id FROM namespaces WHERE visibility = 'public')
    OR l.group_id IN (SELECT below.namespace_id FROM members own
      JOIN namespace_ancestors below ON below.ancestor_id = own.source_id
      WHERE own.user_id = ${viewer.userId ?? 0} AND own.source_type = 'group' AND own.state = 'active'
        AND ${live('own', today)}))`
}

/** Members with their users and who added them, by user id. */
function memberQuery(db: Db, scope: MemberScope, filters: MemberFilters) {
  return db
    .selectFrom(memberships(scope).as('own'))
    .innerJoin('users', 'users.id', 'own.user_id')
    .select(['own.member_id', 'own.level', 'users.id'])
    .where((is) => is.and(conditions(scope, filters)))
    .orderBy('users.id')
}

function conditions(scope: MemberScope, filters: MemberFilters): Expression<SqlBool>[] {
  const found: Expression<SqlBool>[] = []
  const inList = (ids: readonly number[]) => sql`(${ids.length > 0 ? sql.join(ids) : sql`NULL`})`
  if (filters.user_ids) found.push(sql<SqlBool>`users.id IN ${inList(filters.user_ids)}`)
  if (filters.skip_users && filters.skip_users.length > 0) {
    found.push(sql<SqlBool>`users.id NOT IN ${inList(filters.skip_users)}`)
  }
  if (filters.query) {
    const email = scope.viewer.admin ? 'users.email' : 'users.public_email'
    found.push(...matchesSearch(filters.query, ['users.name', 'users.username', email]))
  }
  if (filters.state) {
    found.push(
      sql<SqlBool>`own.member_id IN (SELECT id FROM members WHERE state = ${filters.state})`,
    )
  }
  return found
}

/** A page of members: of the source itself, or with inherited and invited ones, each user once. */
export async function listMemberViews(
  db: Db,
  scope: MemberScope,
  filters: MemberFilters,
  page: OffsetPage,
): Promise<Paged<MemberView>> {
  const { items, ...rest } = await listPage(db, memberQuery(db, scope, filters), page)
  return { ...rest, items: await withDetails(db, items) }
}

/** One user's membership as the list would show it. */
export async function findMemberView(
  db: Db,
  scope: MemberScope,
  userId: number,
): Promise<MemberView | undefined> {
  const rows = await memberQuery(db, scope, { user_ids: [userId] }).execute()
  return (await withDetails(db, rows))[0]
}

/** Adds what an answer shows to the few rows of a page. */
async function withDetails(
  db: Db,
  rows: readonly { member_id: number; level: number }[],
): Promise<MemberView[]> {
  if (rows.length === 0) return []
  const found = await db
    .selectFrom('members')
    .innerJoin('users', 'users.id', 'members.user_id')
    .select(userBasicColumns)
    .select([
      'users.kind',
      'members.id as member_id',
      'members.created_at',
      'members.created_by_id',
      'members.expires_at',
      'members.state as membership_state',
      'members.member_role_id',
    ])
    .where(
      'members.id',
      'in',
      rows.map((row) => row.member_id),
    )
    .execute()
  const creators = await listUsersBasic(
    db,
    found.flatMap((row) => row.created_by_id ?? []),
  )
  const byId = new Map(found.map((row) => [row.member_id, row]))
  return rows.flatMap(({ member_id, level }) => {
    const row = byId.get(member_id)
    if (!row) return []
    const creator = creators.find((user) => user.id === row.created_by_id) ?? null
    return [{ ...row, access_level: level, creator }]
  })
}
