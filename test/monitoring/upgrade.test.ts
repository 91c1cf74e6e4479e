import { rmSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore } from '../../src/store/connection.ts'
import { newFolder } from '../support/database.ts'

const at = '2026-01-01T00:00:00.000Z'
let folder: string
beforeEach(() => {
  folder = newFolder()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

async function upgradeTo(last: string): Promise<void> {
  const some = migrations.filter(({ name }) => name < last)
  await openStore(folder, { migrations: some }).close()
}

function inDatabase<T>(act: (database: Database.Database) => T): T {
  const database = new Database(join(folder, 'gitstead.db'))
  database.pragma('foreign_keys = OFF')
  try {
    return act(database)
  } finally {
    database.close()
  }
}

const note = `INSERT INTO notes (noteable_type, noteable_id, discussion_id, body, created_at, updated_at)`

test('an upgrade lets notes be about alerts, and leaves those alone that are there', async () => {
  await upgradeTo('0240')
  const known = inDatabase((database) => {
    for (const type of ['Issue', 'MergeRequest', 'Snippet'])
      for (let n = 0; n < 200; n += 1)
        database.exec(`${note} VALUES ('${type}', ${n}, 'd${n}', 'text ${n}', '${at}', '${at}')`)
    expect(() => database.exec(`${note} VALUES ('Alert', 1, 'd', 'x', '${at}', '${at}')`)).toThrow()
    return database.prepare('SELECT * FROM notes ORDER BY id').all()
  })
  await upgradeTo('9')
  inDatabase((database) => {
    expect(database.prepare('SELECT * FROM notes ORDER BY id').all()).toEqual(known)
    expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
    database.exec(`${note} VALUES ('Alert', 1, 'd', 'x', '${at}', '${at}')`)
    expect(() => database.exec(`${note} VALUES ('Odd', 1, 'd', 'x', '${at}', '${at}')`)).toThrow()
    const plan = database
      .prepare(
        `EXPLAIN QUERY PLAN SELECT * FROM notes WHERE noteable_type = 'Alert' AND noteable_id = 1`,
      )
      .all()
    expect(JSON.stringify(plan)).toContain('notes_by_noteable')
  })
  // The next start finds nothing to do.
  const store = openStore(folder, { migrations })
  expect(store.migrated).toEqual([])
  await store.close()
})

test('an upgrade keeps the events of errors that are there', async () => {
  await upgradeTo('0242')
  inDatabase((database) =>
    database.exec(`
INSERT INTO users (id, username, name, email, created_at, updated_at)
  VALUES (1, 'ana', 'Ana', 'ana@example.com', '${at}', '${at}');
INSERT INTO namespaces (id, kind, name, path, full_path, full_name, owner_id, created_at, updated_at)
  VALUES (1, 'user', 'Ana', 'ana', 'ana', 'Ana', 1, '${at}', '${at}');
INSERT INTO projects (id, namespace_id, name, path, full_path, created_at, updated_at, last_activity_at)
  VALUES (1, 1, 'demo', 'demo', 'ana/demo', '${at}', '${at}', '${at}');
INSERT INTO errors (id, project_id, name, actor, platform, description, events, users, first_seen, last_seen, stride)
  VALUES (1, 1, 'E', 'a', 'python', 'd', 2, 0, '${at}', '${at}', 1);
INSERT INTO error_events (error_id, number, kept, event_id, occurred_at, received_at, description, payload)
  VALUES (1, 1, 1, 'e1', '${at}', '${at}', 'd', x'01'), (1, 2, 0, 'e2', '${at}', '${at}', 'd', x'02');`),
  )
  await upgradeTo('9')
  const rows = inDatabase((database) =>
    database.prepare('SELECT number, event_id, received_at, payload FROM error_events').all(),
  )
  expect(rows).toEqual([
    { number: 1, event_id: 'e1', received_at: at, payload: Buffer.from([1]) },
    { number: 2, event_id: 'e2', received_at: at, payload: Buffer.from([2]) },
  ])
  const sizes = inDatabase((database) => database.prepare('SELECT * FROM error_sizes').all())
  expect(sizes).toEqual([{ project_id: 1, bytes: 4096 + 2 }])
})
