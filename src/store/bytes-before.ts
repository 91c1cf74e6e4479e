import { type RawBuilder, sql } from 'kysely'

/**
 * Bytes of a text in all rows before this one, from the newest on, from the oldest, or in another order. Who takes the rows
 * where it is below a bound has the first in any case, and reads at most one text more than that. Select it beside the id
 * alone: the texts themselves are not read for it.
 */
export function bytesBefore(
  text: string,
  id: string,
  order: 'newest' | 'oldest' | RawBuilder<unknown> = 'newest',
) {
  const byId = sql`${sql.ref(id)} ${sql.raw(order === 'newest' ? 'DESC' : 'ASC')}`
  return sql<number>`coalesce(sum(octet_length(${sql.ref(text)})) OVER (
    ORDER BY ${typeof order === 'string' ? byId : order}
    ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)`
}
