import { setImmediate as nextRequest } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore } from '../../src/store/connection.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

let store: TestStore
beforeEach(() => {
  store = openTestStore()
})
afterEach(() => store.remove())

const addSetting = (db = store.db, key = 'a') =>
  db.insertInto('settings').values({ key, value: '1' }).execute()

describe('the database has changed', () => {
  test('after a write of any kind, and not after one that found no row', async () => {
    const moment = store.changes.now()
    await store.db.selectFrom('settings').selectAll().execute()
    await inTransaction(store, async ({ db }) => {
      await sql`SELECT name FROM sqlite_schema`.execute(db)
      await sql`UPDATE settings SET value = '2' WHERE key = 'none'`.execute(db)
    })
    await store.db.deleteFrom('settings').execute()
    expect(store.changes.isSame(moment)).toBe(true)
    await addSetting()
    expect(store.changes.isSame(moment)).toBe(false)
    const later = store.changes.now()
    await sql`UPDATE settings SET value = '2'`.execute(store.db)
    expect(store.changes.isSame(later)).toBe(false)
  })

  test('when a transaction ends, and not at all when it is rolled back', async () => {
    const moment = store.changes.now()
    await inTransaction(store, async (ctx) => {
      await addSetting(ctx.db)
      expect(store.changes.isSame(moment)).toBe(true)
    })
    expect(store.changes.isSame(moment)).toBe(false)
    const after = store.changes.now()
    const failing = inTransaction(store, async (ctx) => {
      await addSetting(ctx.db, 'b')
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(store.changes.isSame(after)).toBe(true)
  })

  test('once another process has written', async () => {
    const other = openStore(store.folder, { migrations, synchronous: 'off' })
    const moment = store.changes.now()
    expect(store.changes.isSame(moment)).toBe(true)
    await addSetting(other.db)
    // A request that comes now comes after that.
    await nextRequest()
    expect(store.changes.isSame(moment)).toBe(false)
    await other.close()
  })
})

describe('who watches a table', () => {
  const tables = ['settings', 'users', 'tasks']
  const calledBy = async (write: () => Promise<unknown>): Promise<string[]> => {
    const called = new Set<string>()
    const stops = tables.map((table) => store.changes.watch(table, () => called.add(table)))
    await write()
    for (const stop of stops) stop()
    return [...called]
  }

  test('is called after each write that names it, however it is written', async () => {
    const values = sql`(key, value) values ('a', '1')`
    for (const verb of ['insert into', 'INSERT OR IGNORE INTO', 'replace into']) {
      await store.db.deleteFrom('settings').execute()
      const insert = sql`${sql.raw(verb)} settings ${values}`
      expect(await calledBy(() => insert.execute(store.db))).toEqual(['settings'])
    }
    const { db } = store
    const update = sql`update settings set value = '2'`
    expect(await calledBy(() => update.execute(db))).toEqual(['settings'])
    const change = db.updateTable('settings').set({ value: '3' })
    expect(await calledBy(() => change.execute())).toEqual(['settings'])
    const remove = sql`DELETE FROM "settings" WHERE key = 'a'`
    expect(await calledBy(() => remove.execute(db))).toEqual(['settings'])
    expect(await calledBy(() => addSetting())).toEqual(['settings'])
    expect(await calledBy(() => db.deleteFrom('settings').execute())).toEqual(['settings'])
  })

  test('is called, too, when it cannot be seen which table was written', async () => {
    await addSetting()
    const update = sql`with one as (select 'a' as key)
      update settings set value = '2' where key in (select key from one)`
    expect(await calledBy(() => update.execute(store.db))).toEqual(tables)
  })
})
