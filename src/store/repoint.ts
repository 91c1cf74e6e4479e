import { sql } from 'kysely'
import type { Db, Schema } from './schema.ts'

/**
 * Has the rows of a table that name one of some records name another. Rows that would say the same twice stay as they
 * are, to go with the records that they name.
 */
export async function repoint(
  db: Db,
  table: keyof Schema,
  column: string,
  fromIds: readonly number[],
  toId: number,
): Promise<void> {
  if (fromIds.length === 0) return
  await sql`UPDATE OR IGNORE ${sql.table(table)} SET ${sql.ref(column)} = ${toId}
    WHERE ${sql.ref(column)} IN (${sql.join(fromIds)})`.execute(db)
}
