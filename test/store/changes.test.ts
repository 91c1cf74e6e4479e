import { setImmediate as nextRequest } from 'node:timers/promises'
import { type RawBuilder, sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore } from '../../src/store/connection.ts'
import { countUpTo } from '../../src/store/pages.ts'
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
    expect(store.changes.isSame(before, ['tasks', 'settings'])).toBe(true)
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

  test('is nothing after raw SQL that only reads, or finds no row to change', async () => {
    const moment = store.changes.now()
    await inTransaction(store, async ({ db }) => {
      await sql`SELECT name FROM sqlite_schema`.execute(db)
      await sql`UPDATE settings SET value = '2' WHERE key = 'none'`.execute(db)
    })
    expect(store.changes.isSame(moment, ['settings', 'users'])).toBe(true)
    await sql`INSERT INTO settings (key, value) VALUES ('a', '1')`.execute(store.db)
    expect(store.changes.isSame(moment, ['settings'])).toBe(false)
    expect(store.changes.isSame(moment, ['users'])).toBe(true)
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

describe('what a value was read from', () => {
  test('are the tables of joins, subqueries, counts and raw SQL', async () => {
    const reading = store.cache.begin()
    const starred = reading.db
      .selectFrom('projects')
      .innerJoin('namespaces as n', 'n.id', 'projects.namespace_id')
      .select('projects.id')
      .where('projects.id', 'in', (eb) => eb.selectFrom('stars').select('project_id'))
    await countUpTo(reading.db, starred, 10)
    await sql`select name from "Users" where id in (select user_id from members)`.execute(
      reading.db,
    )
    await sql`select id from ${sql.table('labels')} union select id from ${sql.id('milestones')}`.execute(
      reading.db,
    )
    expect([...(reading.tables ?? [])].sort()).toEqual(
      ['labels', 'members', 'milestones', 'namespaces', 'projects', 'stars', 'users'].sort(),
    )
  })

  test('is more than tables after a write, in a transaction, and when somebody says so', async () => {
    const write = store.cache.begin()
    await write.db.insertInto('settings').values({ key: 'a', value: '1' }).execute()
    expect(write.tables).toBeUndefined()
    const transaction = store.cache.begin()
    await inTransaction(transaction, async (ctx) => {
      await ctx.db.selectFrom('users').selectAll().execute()
    })
    expect(transaction.tables).toBeUndefined()
    const told = store.cache.begin()
    told.spoil()
    await told.db.selectFrom('users').selectAll().execute()
    expect(told.tables).toBeUndefined()
  })
})

describe('a raw write', () => {
  const changedBy = async (write: RawBuilder<unknown>, tables: readonly string[]) => {
    const moment = store.changes.now()
    await write.execute(store.db)
    return tables.filter((table) => !store.changes.isSame(moment, [table]))
  }

  test('changes the table that it begins with', async () => {
    const tables = ['settings', 'users', 'tasks']
    const values = sql`(key, value) values ('a', '1')`
    for (const verb of ['insert into', 'INSERT OR IGNORE INTO', 'replace into']) {
      await store.db.deleteFrom('settings').execute()
      expect(await changedBy(sql`${sql.raw(verb)} settings ${values}`, tables)).toEqual(tables)
    }
    expect(await changedBy(sql`update settings set value = '2'`, tables)).toEqual(['settings'])
    expect(await changedBy(sql`DELETE FROM "settings" WHERE key = 'a'`, tables)).toEqual([
      'settings',
    ])
  })

  test('changes any table when that is not plain', async () => {
    await store.db.insertInto('settings').values({ key: 'a', value: '1' }).execute()
    const update = sql`with one as (select 'a' as key)
      update settings set value = '2' where key in (select key from one)`
    expect(await changedBy(update, ['users', 'tasks'])).toEqual(['users', 'tasks'])
  })
})
