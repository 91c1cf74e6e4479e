import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Handle } from '../../src/store/sqlite/handle.ts'
import { type Change, parseWrite, SchemaEffects } from '../../src/store/sqlite/schema-effects.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

let store: TestStore
let database: Database.Database
let effects: SchemaEffects
let tables: string[] = []
const changes: Change[] = ['insert', 'update', 'delete']

/** Every table reports its own changes by a trigger, and the schema's own triggers and keys do the rest. */
beforeAll(() => {
  store = openTestStore()
  database = new Database(store.path)
  database.pragma('foreign_keys = ON')
  effects = new SchemaEffects(new Handle(database))
  tables = [...effects.tables].filter((name) => !name.startsWith('sqlite_'))
  database.exec('CREATE TEMP TABLE seen (name TEXT)')
  for (const table of tables) {
    for (const change of changes) {
      database.exec(
        `CREATE TEMP TRIGGER watch_${table}_${change} AFTER ${change} ON main."${table}"
         BEGIN INSERT INTO seen VALUES ('${table}'); END`,
      )
    }
  }
})
afterAll(async () => {
  database.close()
  await store.remove()
})

interface Column {
  readonly name: string
  readonly type: string
  readonly pk: number
}

const literals: Readonly<Record<string, string>> = { TEXT: "'1'", BLOB: "x'31'" }

/** A row in every table, all with the key 1, each pointing to the others: checks are off, keys are not looked at yet. */
function fill(): void {
  database.pragma('ignore_check_constraints = ON')
  database.pragma('foreign_keys = OFF')
  for (const table of tables) {
    const columns = database.pragma(`table_xinfo("${table}")`) as (Column & { hidden: number })[]
    const own = columns.filter((column) => column.hidden === 0)
    const values = own.map(({ type }) => literals[type] ?? '1')
    const names = own.map((column) => `"${column.name}"`)
    database.exec(`INSERT OR REPLACE INTO "${table}" (${names}) VALUES (${values})`)
  }
  database.pragma('foreign_keys = ON')
}

function changedBy(statement: string): string[] {
  database.exec('DELETE FROM seen')
  database.exec(statement)
  const rows = database.prepare<[], { name: string }>('SELECT DISTINCT name FROM seen').all()
  return rows.map((row) => row.name)
}

/** Does it as a transaction that is undone. */
function tryOut(statement: string): string[] {
  database.exec('BEGIN; PRAGMA defer_foreign_keys = ON')
  try {
    return changedBy(statement)
  } catch {
    // Refused by a constraint or a trigger: nothing has changed.
    return []
  } finally {
    database.exec('ROLLBACK')
  }
}

describe('what follows from a change', () => {
  test('is known for every row that is deleted or updated, through triggers and foreign keys', () => {
    fill()
    let followed = 0
    for (const table of tables) {
      const columns = database.pragma(`table_info("${table}")`) as Column[]
      const statements: [Change, string][] = [
        ['delete', `DELETE FROM "${table}"`],
        ...columns.map(({ name }): [Change, string] => [
          'update',
          `UPDATE "${table}" SET "${name}" = "${name}"`,
        ]),
      ]
      for (const [change, statement] of statements) {
        const changed = tryOut(statement)
        if (changed.length > 1) followed += 1
        const known = effects.of({ table, changes: [change] })
        expect(known && changed.filter((name) => !known.has(name)), statement).toEqual([])
      }
    }
    // Otherwise the rows did not hang together, and nothing was tested.
    expect(followed).toBeGreaterThan(20)
  })

  test('is told of every trigger in the schema', () => {
    for (const table of tables) {
      expect(effects.of({ table, changes }), table).toBeDefined()
    }
  })

  test('is any table where a trigger is not understood', () => {
    const odd = new Database(':memory:')
    odd.exec(`CREATE TABLE a (x); CREATE TABLE b (x);
      CREATE TRIGGER odd AFTER INSERT ON a BEGIN INSERT INTO [b c] VALUES (1); END`)
    const found = new SchemaEffects(new Handle(odd))
    expect(found.of({ table: 'a', changes: ['insert'] })).toBeUndefined()
    expect(found.of({ table: 'a', changes: ['delete'] })).toEqual(new Set(['a']))
    odd.close()
  })
})

test.each([
  ['insert into a (x) values (1)', 'a', ['insert']],
  ['INSERT OR IGNORE INTO "a" SELECT 1', 'a', ['insert']],
  ['insert into a values (1) on conflict (x) do update set x = 2', 'a', ['insert', 'update']],
  ['replace into a values (1)', 'a', changes],
  ['insert or replace into a values (1)', 'a', changes],
  ['\n  UPDATE tasks SET x = 1', 'tasks', ['update']],
  ['update or replace a set x = 1', 'a', changes],
  ['delete from a', 'a', ['delete']],
])('%s is understood', (text, table, expected) => {
  expect(parseWrite(text)).toEqual({ table, changes: expected })
})

test.each([
  'with a as (select 1) delete from b',
  'update ? set x = 1',
  'update main.a set x = 1',
  'vacuum',
  'delete from [a b]',
])('%s may change anything', (text) => {
  expect(parseWrite(text)).toBeUndefined()
})
