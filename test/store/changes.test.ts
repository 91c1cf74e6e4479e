import { setImmediate as nextRequest } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore } from '../../src/store/connection.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

const now = '2026-05-04T10:00:00.000Z'
const stamps = { created_at: now, updated_at: now }

let store: TestStore
beforeEach(() => {
  store = openTestStore()
})
afterEach(() => store.remove())

async function addUser(username: string): Promise<number> {
  const person = { username, name: username, email: `${username}@example.com`, ...stamps }
  const made = store.db.insertInto('users').values(person).returning('id')
  return (await made.executeTakeFirstOrThrow()).id
}

async function addGroup(path: string, parentId: number | null = null): Promise<number> {
  const names = { name: path, path, full_path: path, full_name: path }
  const made = store.db
    .insertInto('namespaces')
    .values({ kind: 'group', parent_id: parentId, ...names, visibility: 'private', ...stamps })
    .returning('id')
  return (await made.executeTakeFirstOrThrow()).id
}

describe('what has changed', () => {
  test('is the table that was written, and no other', async () => {
    const moment = store.changes.now()
    await addUser('ana')
    expect(store.changes.isSame(moment, ['users'])).toBe(false)
    expect(store.changes.isSame(moment, ['projects', 'issues'])).toBe(true)
    expect(store.changes.isSame(store.changes.now(), ['users'])).toBe(true)
  })

  test('includes what triggers and foreign keys change', async () => {
    const inserted = store.changes.now()
    const namespace_id = await addGroup('team')
    expect(store.changes.isSame(inserted, ['namespace_ancestors'])).toBe(false)
    const names = {
      name: 'one',
      path: 'one',
      full_path: 'team/one',
      visibility: 'private',
    } as const
    const times = { last_activity_at: now, ...stamps }
    await store.db
      .insertInto('projects')
      .values({ namespace_id, ...names, ...times })
      .execute()
    const before = store.changes.now()
    await store.db.deleteFrom('projects').execute()
    expect(store.changes.isSame(before, ['issues', 'users'])).toBe(false)
    expect(store.changes.isSame(before, ['deploy_tokens'])).toBe(false)
    expect(store.changes.isSame(before, ['users'])).toBe(true)
  })

  test('includes a table that was emptied as a whole', async () => {
    await store.db.insertInto('settings').values({ key: 'a', value: '1' }).execute()
    const moment = store.changes.now()
    await store.db.deleteFrom('settings').execute()
    expect(store.changes.isSame(moment, ['settings'])).toBe(false)
    const empty = store.changes.now()
    await store.db.deleteFrom('settings').execute()
    expect(store.changes.isSame(empty, ['settings'])).toBe(true)
  })

  test('is known when a transaction ends, and not at all when it is rolled back', async () => {
    const moment = store.changes.now()
    await inTransaction(store, async (ctx) => {
      await ctx.db.insertInto('settings').values({ key: 'a', value: '1' }).execute()
      expect(store.changes.isSame(moment, ['settings'])).toBe(true)
    })
    expect(store.changes.isSame(moment, ['settings'])).toBe(false)
    const after = store.changes.now()
    const failing = inTransaction(store, async (ctx) => {
      await ctx.db.insertInto('settings').values({ key: 'b', value: '1' }).execute()
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(store.changes.isSame(after, ['settings'])).toBe(true)
  })

  test('is anything once another process has written', async () => {
    const other = openStore(store.folder, { migrations, synchronous: 'off' })
    const moment = store.changes.now()
    expect(store.changes.isSame(moment, ['users'])).toBe(true)
    await other.db.insertInto('settings').values({ key: 'a', value: '1' }).execute()
    // A request that comes now comes after that.
    await nextRequest()
    expect(store.changes.isSame(moment, ['users'])).toBe(false)
    await other.close()
  })
})

describe('a recording', () => {
  test('knows the tables of joins, subqueries and covering indexes', async () => {
    const recording = store.record()
    await recording.db
      .selectFrom('projects')
      .innerJoin('namespaces', 'namespaces.id', 'projects.namespace_id')
      .select('projects.id')
      .where('projects.id', 'in', (eb) => eb.selectFrom('stars').select('project_id'))
      .execute()
    await recording.db.selectFrom('users').select('users.id').where('username', '=', 'x').execute()
    expect([...(recording.tables() ?? [])].sort()).toEqual([
      'namespaces',
      'projects',
      'stars',
      'users',
    ])
  })

  test('is spoilt by a write, by a transaction, and when it is told to', async () => {
    const write = store.record()
    await write.db.insertInto('settings').values({ key: 'a', value: '1' }).execute()
    expect(write.tables()).toBeUndefined()
    const transaction = store.record()
    await inTransaction(transaction, async (ctx) => {
      await ctx.db.selectFrom('users').selectAll().execute()
    })
    expect(transaction.tables()).toBeUndefined()
    const told = store.record()
    told.spoil()
    await told.db.selectFrom('users').selectAll().execute()
    expect(told.tables()).toBeUndefined()
  })
})
