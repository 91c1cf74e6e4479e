import { type RawBuilder, type SelectQueryBuilder, sql } from 'kysely'
import type { Viewer } from '../../access/visible-queries.ts'
import type { Page, Paged } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db, Schema } from '../../store/schema.ts'
import { containing } from '../../store/search.ts'
import type { USER_ORDERS, UserFilters } from './list-params.ts'
import { type UserDetails, userDetailsQuery } from './queries.ts'

type Query = SelectQueryBuilder<Schema, 'users', UserDetails>
type Condition = RawBuilder<unknown>

const PROJECT_BOTS = sql`('project_bot', 'group_bot')`

/** The SQL of each flag that narrows the list when it is true. */
const flagConditions: Readonly<Partial<Record<keyof UserFilters, Condition>>> = {
  active: sql`users.state = 'active' and users.kind <> 'ghost'`,
  blocked: sql`users.state in ('blocked', 'ldap_blocked')`,
  humans: sql`users.kind = 'human'`,
  external: sql`users.external = 1`,
  exclude_active: sql`users.state <> 'active'`,
  exclude_external: sql`users.external = 0`,
  exclude_humans: sql`users.kind <> 'human'`,
  exclude_internal: sql`users.kind <> 'ghost'`,
  without_project_bots: sql`users.kind not in ${PROJECT_BOTS}`,
  without_projects: sql`not exists (select 1 from members m where m.user_id = users.id
      and m.source_type = 'project')
    and not exists (select 1 from namespaces n join projects p on p.namespace_id = n.id
      where n.owner_id = users.id and n.kind = 'user')`,
  admins: sql`users.admin = 1`,
  auditors: sql`json_extract(users.settings, '$.auditor') = 1`,
}

/** Administrators also find people by their exact private address. */
function searchCondition(text: string, { admin }: Viewer): Condition {
  const like = containing(text)
  return sql`(users.name like ${like} escape '\\' or users.username like ${like} escape '\\'
    or users.public_email = ${text}${
      admin
        ? sql` or users.email = ${text}
            or users.id in (select user_id from emails where email = ${text})`
        : sql``
    })`
}

function* valueConditions(viewer: Viewer, filters: UserFilters): Generator<Condition> {
  const { username, search, public_email, extern_uid, provider, two_factor } = filters
  if (username !== undefined) yield sql`users.username = ${username}`
  if (search) yield searchCondition(search, viewer)
  if (public_email !== undefined) yield sql`users.public_email = ${public_email}`
  if (extern_uid !== undefined && provider !== undefined) {
    yield sql`users.id in (select user_id from identities
      where provider = ${provider} and extern_uid = ${extern_uid})`
  }
  if (two_factor !== undefined) {
    yield sql`users.two_factor = ${two_factor === 'enabled' ? 1 : 0}`
  }
  if (filters.created_after) yield sql`users.created_at > ${filters.created_after}`
  if (filters.created_before) yield sql`users.created_at < ${filters.created_before}`
  for (const [key, value] of Object.entries(filters.custom_attributes ?? {})) {
    yield sql`users.id in (select subject_id from custom_attributes
      where subject_type = 'user' and key = ${key} and value = ${value})`
  }
}

function narrowed(query: Query, viewer: Viewer, filters: UserFilters): Query {
  let narrow = query
  for (const [name, condition] of Object.entries(flagConditions)) {
    if (filters[name as keyof UserFilters] === true)
      narrow = narrow.where(sql<boolean>`(${condition})`)
  }
  for (const condition of valueConditions(viewer, filters)) {
    narrow = narrow.where(sql<boolean>`(${condition})`)
  }
  return narrow
}

/** One page of users in the asked order. */
export function listUserRows(
  db: Db,
  viewer: Viewer,
  filters: UserFilters,
  order: { readonly by: (typeof USER_ORDERS)[number]; readonly sort: 'asc' | 'desc' },
  page: Page,
): Promise<Paged<UserDetails>> {
  let query = narrowed(userDetailsQuery(db, viewer.today), viewer, filters).orderBy(
    `users.${order.by}`,
    order.sort,
  )
  if (order.by !== 'id') query = query.orderBy('users.id', order.sort)
  return listPage(db, query, page, {
    id: 'users.id',
    idOf: (row) => row.id,
    keys: {
      name: { column: 'users.name', valueOf: (row) => row.name },
      username: { column: 'users.username', valueOf: (row) => row.username },
      created_at: { column: 'users.created_at', valueOf: (row) => row.created_at },
      updated_at: { column: 'users.updated_at', valueOf: (row) => row.updated_at },
    },
  })
}
