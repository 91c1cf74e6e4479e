import { sql } from 'kysely'

/**
 * Bytes of a text in all rows before this one, from the newest on or from the oldest. Who takes the rows where it is below a
 * bound has the first in any case, and reads at most one text more than that. Select it beside the id alone: the texts
 * themselves are not read for it.
 */
export function bytesBefore(text: string, id: string, order: 'newest' | 'oldest' = 'newest') {
  const direction = sql.raw(order === 'newest' ? 'DESC' : 'ASC')
  return sql<number>`coalesce(sum(octet_length(${sql.ref(text)})) OVER (
    ORDER BY ${sql.ref(id)} ${direction} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)`
}
