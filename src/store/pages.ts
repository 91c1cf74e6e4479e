import { type ReferenceExpression, type SelectQueryBuilder, sql } from 'kysely'
import { type Page as AskedPage, COUNTED_ROWS, type Paged } from '../base/page.ts'
import { badParameters } from '../base/problem.ts'
import type { Db } from './schema.ts'

export interface OffsetRange {
  /** From 1. */
  readonly page: number
  readonly perPage: number
}

export interface Page<T> {
  readonly items: T[]
  /** Missing when there are more than `COUNTED_ROWS`. */
  readonly total?: number | undefined
}

/**
 * One page of an ordered query by number, with the total as far as anybody counts: of the query itself, or of `counted`,
 * which has the same rows and is faster to count.
 */
export async function pageByOffset<DB, TB extends keyof DB, O>(
  db: Db,
  query: SelectQueryBuilder<DB, TB, O>,
  range: OffsetRange,
  counted: SelectQueryBuilder<DB, TB, O> = query,
): Promise<Page<O>> {
  const offset = (range.page - 1) * range.perPage
  const items = await query.limit(range.perPage).offset(offset).execute()
  const isLast = items.length < range.perPage && (items.length > 0 || offset === 0)
  const total = isLast ? offset + items.length : await countUpTo(db, counted, COUNTED_ROWS + 1)
  // The row type that Kysely simplifies for a fixed query is O itself.
  return { items: items as O[], total: total > COUNTED_ROWS ? undefined : total }
}

/** How many rows a query has, counting no further than `most`. */
export async function countUpTo<DB, TB extends keyof DB, O>(
  db: Db,
  query: SelectQueryBuilder<DB, TB, O>,
  most: number,
): Promise<number> {
  const inner = query.clearOrderBy().clearLimit().clearOffset().limit(most)
  const counted = sql<{ total: number }>`select count(*) as total from (${inner})`
  const { rows } = await counted.execute(db)
  return rows[0]?.total ?? 0
}

/** The place of a row in an order by one column and the id. */
export interface Key {
  readonly value: string | number | null
  readonly id: number
}

export interface KeyRange {
  readonly limit: number
  /** Start behind this row; without it, at the first. */
  readonly after?: Key | undefined
}

export interface KeyOrder<DB, TB extends keyof DB, O> {
  readonly column: ReferenceExpression<DB, TB>
  /** The column may be null: such rows come last, whichever the direction. */
  readonly nullable?: boolean | undefined
  readonly id: ReferenceExpression<DB, TB>
  readonly direction: 'asc' | 'desc'
  /** Reads the place of a row from what the query selects. */
  readonly keyOf: (row: O) => Key
}

export interface KeyPage<T> {
  readonly items: T[]
  /** Where the next page begins, missing on the last. */
  readonly next?: Key | undefined
}

/** One page behind a row, by (column, id): costs the same however deep it is. */
export async function pageByKey<DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  order: KeyOrder<DB, TB, O>,
  range: KeyRange,
): Promise<KeyPage<O>> {
  const { direction } = order
  let ordered = query.clearOrderBy()
  if (order.nullable) ordered = ordered.orderBy(sql`${sql.ref(String(order.column))} IS NULL`)
  ordered = ordered.orderBy(order.column, direction)
  if (order.column !== order.id) ordered = ordered.orderBy(order.id, direction)
  if (range.after) ordered = ordered.where(behind(order, range.after))
  const rows = (await ordered.limit(range.limit + 1).execute()) as O[]
  const items = rows.slice(0, range.limit)
  const last = items.at(-1)
  const next = rows.length > range.limit && last !== undefined ? order.keyOf(last) : undefined
  return { items, next }
}

function behind<DB, TB extends keyof DB, O>(order: KeyOrder<DB, TB, O>, after: Key) {
  const column = sql.ref(String(order.column))
  const id = sql.ref(String(order.id))
  const sign = sql.raw(order.direction === 'asc' ? '>' : '<')
  if (after.value === null) return sql<boolean>`(${column} IS NULL AND ${id} ${sign} ${after.id})`
  const further = sql<boolean>`(${column}, ${id}) ${sign} (${after.value}, ${after.id})`
  return order.nullable ? sql<boolean>`(${further} OR ${column} IS NULL)` : further
}

/** How rows of a list are found again in an order: the column, and its value in a selected row. */
export interface ListKey<DB, TB extends keyof DB, O> {
  readonly column: ReferenceExpression<DB, TB>
  /** The column may be null: such rows come last, whichever the direction. */
  readonly nullable?: true
  readonly valueOf: (row: O) => string | number | null
}

export interface ListOrders<DB, TB extends keyof DB, O> {
  readonly id: ReferenceExpression<DB, TB>
  readonly idOf: (row: O) => number
  /** By the name that `order_by` has on the wire; `id` need not be listed. */
  readonly keys: Readonly<Record<string, ListKey<DB, TB, O>>>
  /** Totals are never given: nothing is counted, and a row behind the page says that there is another. */
  readonly uncounted?: true
  /** The same rows by a query that is faster to count. */
  readonly counted?: SelectQueryBuilder<DB, TB, O>
}

/**
 * The page of a query that a request asked for, ready for the wire. Offset pages keep the query's own order; keyset pages
 * take theirs from the request and need `orders`.
 */
export async function listPage<DB, TB extends keyof DB, O>(
  db: Db,
  query: SelectQueryBuilder<DB, TB, O>,
  page: AskedPage,
  orders?: ListOrders<DB, TB, O>,
): Promise<Paged<O>> {
  if (page.kind === 'offset') {
    if (orders?.uncounted) {
      const rows = await query
        .limit(page.perPage + 1)
        .offset(page.offset)
        .execute()
      return { items: rows.slice(0, page.perPage) as O[], more: rows.length > page.perPage }
    }
    const range = { page: page.number, perPage: page.perPage }
    const { items, total } = await pageByOffset(db, query, range, orders?.counted)
    return { items, total, more: total === undefined && items.length === page.perPage }
  }
  if (!orders) throw new TypeError('this list has no keyset order')
  const byId: ListKey<DB, TB, O> = { column: orders.id, valueOf: orders.idOf }
  const key = orders.keys[page.orderBy] ?? byId
  const { items, next } = await pageByKey(
    query,
    {
      column: key.column,
      nullable: key.nullable,
      id: orders.id,
      direction: page.sort,
      keyOf: (row) => ({ value: key.valueOf(row), id: orders.idOf(row) }),
    },
    { limit: page.perPage, after: keyFrom(page.after, page.orderBy) },
  )
  return { items, next: next && { [page.orderBy]: cursorText(next.value), id: String(next.id) } }
}

function cursorText(value: string | number | null): string {
  if (value === null) return 'null'
  return typeof value === 'number' ? `#${value}` : `"${value}`
}

function keyFrom(
  after: Readonly<Record<string, string>> | undefined,
  orderBy: string,
): Key | undefined {
  if (!after) return undefined
  const id = Number(after.id)
  // Made by nobody here.
  if (!Number.isSafeInteger(id)) throw badParameters('cursor is invalid')
  const text = after[orderBy] ?? ''
  if (orderBy === 'id') return { value: id, id }
  if (text === 'null') return { value: null, id }
  return { value: text.startsWith('#') ? Number(text.slice(1)) : text.slice(1), id }
}
