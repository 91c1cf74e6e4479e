import { readdirSync, readFileSync } from 'node:fs'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openTestStore, type TestStore } from '../support/database.ts'

const folder = new URL('../../src/store/schema/', import.meta.url)

/** Tables as the type files have them: column → whether it may be null. */
function typedTables(): Map<string, Map<string, boolean>> {
  const texts = readdirSync(folder).map((file) =>
    readFileSync(new URL(file, folder), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, ''),
  )
  const interfaces = new Map(
    texts.flatMap((text) =>
      [...text.matchAll(/^export interface (\w+)[^{\n]*\{\n([\s\S]*?)^\}/gm)].map(
        ([, name = '', body = '']) => [name, body] as const,
      ),
    ),
  )
  const tables = new Map<string, Map<string, boolean>>()
  for (const [name, body] of interfaces) {
    if (!name.endsWith('Schema')) continue
    // The columns stand at the table's name, or in an interface of their own.
    for (const [table, type] of members(body, 2)) {
      const inline = /^\{\n([\s\S]*)\}$/.exec(type)?.[1]
      const columns = inline === undefined ? interfaces.get(type) : inline
      if (columns === undefined) throw new Error(`${table}: no interface ${type}`)
      const indent = inline === undefined ? 2 : 4
      const typed = members(columns, indent)
      tables.set(table, new Map(typed.map(([column, of]) => [column, mayBeNull(of)])))
    }
  }
  return tables
}

/** The names and types that stand in a body at an indent; lines that are further in, or close a brace, go on with one. */
function members(body: string, indent: number): (readonly [name: string, type: string])[] {
  const starts = new RegExp(`^ {${indent}}(?=\\w+\\??:)`, 'gm')
  return body
    .split(starts)
    .slice(1)
    .map((text) => {
      const [, name = '', type = ''] = /^(\w+)\??:\s*([\s\S]*?)\s*$/.exec(text) ?? []
      return [name, type] as const
    })
}

function mayBeNull(type: string): boolean {
  return /^Optional|\bnull\b/.test(type.trim())
}

let store: TestStore
beforeAll(() => {
  store = openTestStore()
})
afterAll(() => store.remove())

async function rowsOf<T>(text: string): Promise<T[]> {
  return (await sql.raw<T>(text).execute(store.db)).rows
}

async function tableNames(): Promise<string[]> {
  const rows = await rowsOf<{ name: string; strict: number }>(
    "select name, strict from pragma_table_list where schema = 'main' and type = 'table'",
  )
  return rows
    .map((row) => row.name)
    .filter((name) => !name.startsWith('sqlite_') && name !== 'schema_migrations')
    .sort()
}

describe('the types and the tables', () => {
  test('name the same tables', async () => {
    expect([...typedTables().keys()].sort()).toEqual(await tableNames())
  })

  test('name the same columns, and agree on which may be null', async () => {
    for (const [table, columns] of typedTables()) {
      const rows = await rowsOf<{ name: string; notnull: number; pk: number }>(
        `select name, "notnull", pk from pragma_table_info('${table}') order by name`,
      )
      const inTable = rows.map((row) => [row.name, row.notnull === 0 && row.pk === 0])
      expect([...columns].sort(), table).toEqual(inTable)
    }
  })
})

describe('every table', () => {
  test('is strict', async () => {
    const loose = await rowsOf<{ name: string }>(
      "select name from pragma_table_list where schema = 'main' and type = 'table' and strict = 0 and name not like 'sqlite_%'",
    )
    expect(loose).toEqual([])
  })

  test('has an index for each of its foreign keys, so that deletes stay fast', async () => {
    const missing: string[] = []
    for (const table of await tableNames()) {
      const keys = await rowsOf<{ column: string }>(
        `select "from" as column from pragma_foreign_key_list('${table}') where seq = 0`,
      )
      // A partial index serves a key only where all that it leaves out is rows without one.
      const indexed = await rowsOf<{ column: string }>(
        `select i.name as column from pragma_index_list('${table}') l, pragma_index_info(l.name) i
           join sqlite_schema s on s.name = l.name
         where i.seqno = 0
           and (l.partial = 0 or trim(substr(s.sql, instr(s.sql, 'WHERE') + 6)) = i.name || ' IS NOT NULL')
         union select name from pragma_table_info('${table}') where pk = 1`,
      )
      const first = new Set(indexed.map((row) => row.column))
      missing.push(
        ...keys.filter((key) => !first.has(key.column)).map((key) => `${table}.${key.column}`),
      )
    }
    expect(missing).toEqual([])
  })
})

test('no trigger on the deletion of a project asks another table, which may be empty by then (docs/decisions/0065)', async () => {
  const triggers = await rowsOf<{ name: string; sql: string }>(
    "select name, sql from sqlite_schema where type = 'trigger' and sql like '%DELETE ON projects%'",
  )
  expect(triggers.length).toBeGreaterThan(3)
  expect(triggers.filter(({ sql: text }) => /\bSELECT\b/i.test(text))).toEqual([])
})
