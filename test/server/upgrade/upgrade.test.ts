import { execFileSync } from 'node:child_process'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { describe, expect, test } from 'vitest'
import { migrations } from '../../../src/areas.ts'
import { productVersion } from '../../../src/base/version.ts'
import { gitstead } from '../../support/command-line.ts'
import { placeDatabase } from '../../support/database.ts'
import { startServerProcess } from '../../support/server-process.ts'
import { newTestFolder } from '../../support/test-folder.ts'
import { expectContents } from './contents.ts'

const kept = new URL('../../../fixtures/data-folders/', import.meta.url).pathname
const archives = readdirSync(kept).filter((name) => name.endsWith('.tar.gz'))

function unpack(archive: string): string {
  const data = newTestFolder()
  execFileSync('tar', ['-xzf', join(kept, archive), '-C', data])
  chmodSync(data, 0o700)
  return data
}

function applied(data: string): string[] {
  const database = new Database(join(data, 'gitstead.db'), { readonly: true })
  try {
    const rows = database.prepare<[], string>('SELECT name FROM schema_migrations').pluck()
    return rows.all().sort()
  } finally {
    database.close()
  }
}

/** A data folder with the database that a new server makes. */
function newData(): string {
  const data = newTestFolder()
  placeDatabase(data)
  return data
}

/** What makes each table, index and trigger; spaces and quotes around names are written in more than one way. */
function schemaOf(data: string): Record<string, string> {
  const database = new Database(join(data, 'gitstead.db'), { readonly: true })
  try {
    const rows = database
      .prepare<[], { name: string; sql: string }>(
        "SELECT type || ' ' || name AS name, sql FROM sqlite_schema WHERE sql IS NOT NULL",
      )
      .all()
    return Object.fromEntries(rows.map(({ name, sql }) => [name, sql.replace(/["\s]+/g, '')]))
  } finally {
    database.close()
  }
}

describe.each(archives)('the data folder of %s', (archive) => {
  test('is upgraded by a start, with all that it holds, and a copy from before where something was missing', async () => {
    const data = unpack(archive)
    const before = new Set(applied(data))
    const missing = migrations
      .filter(
        ({ name, replaces }) => !before.has(name) && !replaces?.every((one) => before.has(one)),
      )
      .map(({ name }) => name)
    const server = await startServerProcess(data)
    try {
      await expectContents(server.url)
    } finally {
      await server.stop()
    }
    expect(applied(data)).toEqual([...before, ...missing].sort())
    expect(schemaOf(data)).toEqual(schemaOf(newData()))
    const copies = missing.length === 0 ? [] : [`before-${missing[0]}.db`]
    expect(
      readdirSync(data).includes('snapshots') ? readdirSync(join(data, 'snapshots')) : [],
    ).toEqual(copies)
    const health = await gitstead(data, ['doctor', '--fsck', '--json'])
    expect([health.code, health.err]).toEqual([0, expect.anything()])
  }, 120_000)
})

test('a data folder of a newer version is refused in one line that names both versions, and is left as it is', async () => {
  const data = unpack(archives[0] ?? '')
  const database = new Database(join(data, 'gitstead.db'))
  const add = 'INSERT INTO schema_migrations (name, version, applied_at) VALUES (?, ?, ?)'
  database.prepare(add).run('9999-later', '9.8.7', '2030-01-01T00:00:00.000Z')
  database.close()
  const refusal = `the database was written by Gitstead 9.8.7 (9999-later); this is Gitstead ${productVersion}, which knows it up to `
  await expect(startServerProcess(data)).rejects.toThrow(refusal)
  const { code, err } = await gitstead(data, ['token', 'create', 'root'])
  expect([code, err.split('\n').length]).toEqual([1, 2])
  expect(err).toContain(refusal)
  expect(applied(data)).toContain('9999-later')
}, 60_000)
