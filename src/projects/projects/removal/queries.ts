import { sql } from 'kysely'
import type { Db } from '../../../store/schema.ts'

/**
 * Tables whose rows go with a project, and the column that names it; those without row ids have small rows. Comments
 * come first: an issue would take all of its own at once.
 */
export async function listContentTables(db: Db) {
  const { rows } = await sql<{ name: string; column: string }>`
    SELECT t.name AS name, k."from" AS "column"
    FROM pragma_table_list t, pragma_foreign_key_list(t.name) k
    WHERE t.schema = 'main' AND t.type = 'table' AND t.wr = 0
      AND k."table" = 'projects' AND k.on_delete = 'CASCADE'
    ORDER BY t.name <> 'notes', t.name`.execute(db)
  return rows
}

/** Deletes rows of a table that name a project, so many at most; gives how many. */
export async function deleteSome(
  db: Db,
  { name, column }: { readonly name: string; readonly column: string },
  projectId: number,
  most: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    DELETE FROM ${sql.table(name)} WHERE rowid IN (
      SELECT rowid FROM ${sql.table(name)} WHERE ${sql.ref(column)} = ${projectId} LIMIT ${most})`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0n)
}
