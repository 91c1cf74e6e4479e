import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { makeLog } from '../../src/base/log.ts'
import { StartError } from '../../src/base/start-error.ts'
import { productVersion } from '../../src/base/version.ts'
import { openStore } from '../../src/store/connection.ts'
import type { Migration } from '../../src/store/migration.ts'
import { newFolder } from '../support/database.ts'

let folder: string
beforeEach(() => {
  folder = newFolder()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const first: Migration = {
  name: '0001-things',
  sql: "CREATE TABLE things (id INTEGER PRIMARY KEY, name TEXT) STRICT; INSERT INTO things VALUES (1, 'old');",
}
const statements = [
  'ALTER TABLE things ADD COLUMN size INTEGER',
  "INSERT INTO things VALUES (2, 'new', 7)",
  'CREATE INDEX things_name ON things (name)',
  "UPDATE things SET name = 'renamed' WHERE id = 1",
]
const second: Migration = { name: '0002-sizes', sql: statements.join(';') }

async function names(migrations: readonly Migration[]) {
  const store = openStore(folder, { migrations })
  try {
    const { rows } = await sql<{ name: string }>`select name from things order by id`.execute(
      store.db,
    )
    return rows.map((row) => row.name)
  } finally {
    await store.close()
  }
}

/** The same migration that ends after `count` statements. */
function interrupted(count: number): Migration {
  return {
    name: second.name,
    sql: '',
    run(database) {
      for (const statement of statements.slice(0, count)) database.exec(statement)
      throw new Error(`interrupted after ${count}`)
    },
  }
}

describe('an upgrade', () => {
  test('runs what is missing, once', async () => {
    expect(await names([first])).toEqual(['old'])
    expect(await names([first, second])).toEqual(['renamed', 'new'])
    expect(await names([first, second])).toEqual(['renamed', 'new'])
  })

  test.each([0, 1, 2, 3, 4])(
    'that is interrupted after %i statements starts over cleanly',
    async (count) => {
      await names([first])
      expect(() => openStore(folder, { migrations: [first, interrupted(count)] })).toThrow(
        `interrupted after ${count}`,
      )
      expect(await names([first])).toEqual(['old'])
      expect(await names([first, second])).toEqual(['renamed', 'new'])
    },
  )

  test('keeps a copy from before, none for a new database, and three at most', async () => {
    await names([first])
    expect(readdirSync(folder)).not.toContain('snapshots')
    const steps: Migration[] = [first]
    for (let n = 2; n <= 6; n++) {
      steps.push({ name: `000${n}-next`, sql: `UPDATE things SET name = 'step ${n}'` })
      await names(steps)
    }
    expect(readdirSync(join(folder, 'snapshots')).sort()).toEqual([
      'before-0004-next.db',
      'before-0005-next.db',
      'before-0006-next.db',
    ])
    const copy = new Database(join(folder, 'snapshots', 'before-0005-next.db'))
    expect(copy.prepare('SELECT name FROM things').pluck().all()).toEqual(['step 4'])
    copy.close()
  })

  test('keeps the copy that it has just made, whatever the number of its first step', async () => {
    const steps: Migration[] = [first]
    for (const name of ['0102-b', '0103-c', '0104-d', '0005-late']) {
      steps.push({ name, sql: `UPDATE things SET name = '${name}'` })
      await names(steps)
    }
    expect(readdirSync(join(folder, 'snapshots')).sort()).toEqual([
      'before-0005-late.db',
      'before-0103-c.db',
      'before-0104-d.db',
    ])
  })

  test('says how far it is, and which copy was made; a new database says nothing', async () => {
    const lines: Record<string, unknown>[] = []
    const log = makeLog({ write: (line) => lines.push(JSON.parse(line)) })
    const open = (migrations: readonly Migration[]) =>
      openStore(folder, { migrations, log }).close()
    await open([first])
    expect(lines).toEqual([])
    await open([first, second, { name: '0003-more', sql: 'DELETE FROM things' }])
    expect(lines.map(({ time: _, level: __, ...line }) => line)).toEqual([
      {
        message: 'the database is copied before its upgrade',
        from: productVersion,
        to: productVersion,
      },
      {
        message: 'the database is upgraded',
        steps: 2,
        copy: join(folder, 'snapshots/before-0002-sizes.db'),
      },
      { message: 'upgrading', step: '0002-sizes', number: 1, of: 2 },
      { message: 'upgrading', step: '0003-more', number: 2, of: 2 },
      { message: 'the database is up to date', version: productVersion },
    ])
  })

  test('that fails is reported in one line, with its step and what to do', async () => {
    await names([first])
    const wrong: Migration = { name: '0002-wrong', sql: 'INSERT INTO things (id) VALUES (1)' }
    expect(() => openStore(folder, { migrations: [first, wrong] })).toThrow(
      new StartError(
        'the upgrade of the database ended at 0002-wrong (UNIQUE constraint failed: things.id): nothing of this step was kept, and the older program goes on with the copy in snapshots/',
      ),
    )
    expect(await names([first])).toEqual(['old'])
  })

  test('that leaves a row pointing to nothing is undone', async () => {
    await names([first])
    const careless: Migration = {
      name: '0002-parts',
      sql: 'CREATE TABLE parts (thing_id INTEGER REFERENCES things (id)) STRICT; INSERT INTO parts VALUES (99);',
    }
    expect(() => openStore(folder, { migrations: [first, careless] })).toThrow(
      '0002-parts leaves parts pointing to nothing',
    )
    expect(await names([first, second])).toEqual(['renamed', 'new'])
  })
})

describe('a start is refused in one line', () => {
  const refusal = () => {
    try {
      openStore(folder, { migrations: [first] })
    } catch (error) {
      expect(error).toBeInstanceOf(StartError)
      const { message } = error as Error
      expect(message).not.toContain('\n')
      return message
    }
    return 'not refused'
  }

  test('by a database of a newer program, with both versions named', async () => {
    await names([first, second])
    expect(refusal()).toMatch(
      /^the database was written by Gitstead \S+ \(0002-sizes\); this is Gitstead \S+, which knows it up to 0001-things/,
    )
  })

  test('by a database that is read-only', async () => {
    await names([first])
    chmodSync(join(folder, 'gitstead.db'), 0o444)
    expect(refusal()).toBe(`the database ${join(folder, 'gitstead.db')} is read-only`)
  })

  test('by a file that is no database', () => {
    writeFileSync(join(folder, 'gitstead.db'), 'not a database'.repeat(1000))
    expect(refusal()).toContain('gitstead.db is not a database')
  })

  test('by a damaged database', async () => {
    await names([first])
    const path = join(folder, 'gitstead.db')
    const database = new Database(path)
    database.pragma('journal_mode = DELETE')
    database.close()
    writeFileSync(path, Buffer.alloc(8192, 0xff), { flag: 'r+' })
    expect(refusal()).toMatch(/gitstead\.db is (?:not a database|damaged)/)
  })

  test('by a folder that is missing', () => {
    rmSync(folder, { recursive: true })
    expect(refusal()).toBe(`the data folder ${folder} does not exist`)
  })
})

describe('one step in place of several', () => {
  const whole: Migration = {
    name: '0002-whole',
    sql: `${first.sql}; ${second.sql}`,
    replaces: [first.name, second.name],
  }
  const third: Migration = { name: '0003-more', sql: "INSERT INTO things VALUES (3, 'more', 1)" }

  test('makes a new database', async () => {
    expect(await names([whole, third])).toEqual(['renamed', 'new', 'more'])
  })

  test('is not run by a database that has run them all', async () => {
    expect(await names([first, second])).toEqual(['renamed', 'new'])
    expect(await names([whole, third])).toEqual(['renamed', 'new', 'more'])
    expect(await names([whole, third])).toEqual(['renamed', 'new', 'more'])
  })

  test('refuses a database that lacks one of them', async () => {
    await names([first])
    const refusal = 'cannot be upgraded (it lacks 0002-sizes): bring its projects into a new'
    await expect(names([whole, third])).rejects.toThrow(refusal)
    await expect(names([whole, third])).rejects.toThrow(StartError)
  })
})

test('nobody else on the machine may read the database', async () => {
  const store = openStore(folder, { migrations: [first] })
  await store.db
    .selectFrom('settings')
    .selectAll()
    .execute()
    .catch(() => [])
  for (const end of ['', '-wal', '-shm']) expect(statSync(store.path + end).mode & 0o077).toBe(0)
  await store.close()
})
