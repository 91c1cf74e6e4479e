import { sql } from 'kysely'
import type { AccessTokenRow } from '../../access/authentication/token-queries.ts'
import type { Day } from '../../base/clock.ts'
import type { Page, Paged } from '../../base/page.ts'
import { listPage } from '../../store/pages.ts'
import type { Db } from '../../store/schema.ts'
import { containing } from '../../store/search.ts'
import { TOKEN_ORDERS, type TokenFilters } from './params.ts'

/** Whose tokens a list shows. */
export interface TokenOwner {
  readonly userId?: number | undefined
  readonly source?: { readonly type: 'group' | 'project'; readonly id: number } | undefined
  readonly kinds: readonly AccessTokenRow['kind'][]
}

function ownerQuery(db: Db, owner: TokenOwner) {
  let query = db
    .selectFrom('access_tokens')
    .selectAll('access_tokens')
    .where('access_tokens.kind', 'in', owner.kinds)
  if (owner.userId !== undefined) query = query.where('access_tokens.user_id', '=', owner.userId)
  if (owner.source) {
    query = query
      .where('access_tokens.source_type', '=', owner.source.type)
      .where('access_tokens.source_id', '=', owner.source.id)
  }
  return query
}

function* conditions(filters: TokenFilters, today: Day) {
  const { revoked, search, state } = filters
  if (filters.created_after) yield sql`created_at >= ${filters.created_after}`
  if (filters.created_before) yield sql`created_at <= ${filters.created_before}`
  if (filters.last_used_after) yield sql`last_used_at >= ${filters.last_used_after}`
  if (filters.last_used_before) yield sql`last_used_at <= ${filters.last_used_before}`
  if (filters.expires_after) yield sql`expires_at >= ${filters.expires_after}`
  if (filters.expires_before) yield sql`expires_at < ${filters.expires_before}`
  if (revoked !== undefined) yield sql`revoked = ${revoked ? 1 : 0}`
  if (search) yield sql`name like ${containing(search)} escape '\\'`
  if (state === 'active') yield sql`revoked = 0 and (expires_at is null or expires_at > ${today})`
  if (state === 'inactive') yield sql`revoked = 1 or expires_at <= ${today}`
}

/** One page of tokens; ids ascending unless `sort` names an order (docs/contract/A-resolved §8.2). */
export function listTokenRows(
  db: Db,
  owner: TokenOwner,
  filters: TokenFilters,
  today: Day,
  page: Page,
): Promise<Paged<AccessTokenRow>> {
  let query = ownerQuery(db, owner)
  for (const condition of conditions(filters, today)) {
    query = query.where(sql<boolean>`(${condition})`)
  }
  const order = filters.sort === undefined ? undefined : TOKEN_ORDERS[filters.sort]
  if (order) {
    const [column, direction] = order
    query = query.orderBy(`access_tokens.${column}`, (by) =>
      direction === 'asc' ? by.asc().nullsLast() : by.desc().nullsLast(),
    )
  }
  return listPage(db, query.orderBy('access_tokens.id', order?.[1] ?? 'asc'), page)
}
