import { sql } from 'kysely'
import type { Db } from './schema.ts'

interface TextTable {
  readonly name: string
  readonly columns: readonly string[]
  readonly hasRowid: boolean
}

/** Rows looked at in one statement: some milliseconds, so that others can run between. */
const rowsAtOnce = 2000

/** Columns in which the names of files usually stand: looked at first, since they hold most of them. */
const usual = /(^|_)(file|oid|sha256)$/

/**
 * Which of these names of stored files occur anywhere in the database: as a value, or inside of a text such as the
 * payload of a task. Whatever table keeps a file, nobody has to say so.
 */
export async function findReferenced(db: Db, names: readonly string[]): Promise<Set<string>> {
  const tables = await listTextTables(db)
  const found = new Set<string>()
  for (const table of tables) {
    for (const column of table.columns.filter((name) => usual.test(name))) {
      for (const name of await valuesAmong(db, table, column, names)) found.add(name)
    }
  }
  for (const table of tables) {
    const missing = names.filter((name) => !found.has(name))
    if (missing.length === 0) break
    for (const name of await mentionedIn(db, table, missing)) found.add(name)
  }
  return found
}

async function listTextTables(db: Db): Promise<TextTable[]> {
  const { rows } = await sql<{ table: string; column: string; without_rowid: number }>`
    SELECT t.name AS "table", c.name AS "column", t.wr AS without_rowid
    FROM pragma_table_list t JOIN pragma_table_info(t.name) c
    WHERE t.schema = 'main' AND t.type = 'table' AND t.name NOT LIKE 'sqlite_%'
      AND c.type IN ('TEXT', 'ANY', 'JSON', '')`.execute(db)
  const tables = new Map<string, { columns: string[]; hasRowid: boolean }>()
  for (const { table, column, without_rowid } of rows) {
    const known = tables.get(table) ?? { columns: [], hasRowid: without_rowid === 0 }
    known.columns.push(column)
    tables.set(table, known)
  }
  return [...tables].map(([name, found]) => ({ name, ...found }))
}

async function valuesAmong(
  db: Db,
  table: TextTable,
  column: string,
  names: readonly string[],
): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT DISTINCT ${sql.id(column)} AS name FROM ${sql.table(table.name)}
    WHERE ${sql.id(column)} IN (SELECT value FROM json_each(${JSON.stringify(names)}))`.execute(db)
  return rows.map((row) => row.name)
}

async function mentionedIn(db: Db, table: TextTable, names: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for await (const range of rangesOf(db, table)) {
    const mentions = table.columns.map((column) => sql`instr(${sql.id('t', column)}, j.value) > 0`)
    const { rows } = await sql<{ name: string }>`
      SELECT DISTINCT j.value AS name
      FROM ${sql.table(table.name)} t, json_each(${JSON.stringify(names)}) j
      WHERE ${range} AND (${sql.join(mentions, sql` OR `)})`.execute(db)
    found.push(...rows.map((row) => row.name))
  }
  return found
}

async function* rangesOf(db: Db, table: TextTable) {
  if (!table.hasRowid) {
    yield sql`1 = 1`
    return
  }
  const { rows } = await sql<{ first: number | null; last: number | null }>`
    SELECT min(rowid) AS first, max(rowid) AS last FROM ${sql.table(table.name)}`.execute(db)
  const { first, last } = rows[0] ?? { first: null, last: null }
  if (first === null || last === null) return
  for (let at = first; at <= last; at += rowsAtOnce) {
    yield sql`t.rowid >= ${at} AND t.rowid < ${at + rowsAtOnce}`
  }
}
