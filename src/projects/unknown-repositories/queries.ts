import { sql } from 'kysely'
import type { Db } from '../../store/schema.ts'

/** The tables whose rows have repositories. */
export type Owners = 'projects' | 'namespaces' | 'snippets'

/** Those of the ids that no row of the table has. */
export async function listMissingIds(
  db: Db,
  table: Owners,
  ids: readonly number[],
): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    SELECT value AS id FROM json_each(${JSON.stringify(ids)})
    WHERE value NOT IN (SELECT id FROM ${sql.table(table)})`.execute(db)
  return rows.map(({ id }) => id)
}
