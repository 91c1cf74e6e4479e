import { setImmediate as nextRequest } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { cachedQuery } from '../../src/store/cached-query.ts'
import { openStore } from '../../src/store/connection.ts'
import type { Db } from '../../src/store/schema.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

let store: TestStore
let asked = 0
beforeEach(() => {
  store = openTestStore()
  asked = 0
})
afterEach(() => store.remove())

async function put(db: Db, key: string, text: string): Promise<void> {
  const value = JSON.stringify(text)
  await db
    .insertInto('settings')
    .values({ key, value })
    .onConflict((conflict) => conflict.column('key').doUpdateSet({ value }))
    .execute()
}

/** The value of a setting, asked for as requests ask who a token belongs to. */
function read(db: Db, key: string): Promise<string | undefined> {
  return cachedQuery(db, key, async (db) => {
    asked += 1
    const query = db.selectFrom('settings').select('value').where('key', '=', key)
    const row = await query.executeTakeFirst()
    return row && (JSON.parse(row.value) as string)
  })
}

test('an answer is asked for once, also when there is none', async () => {
  await put(store.db, 'a', '1')
  for (let i = 0; i < 5; i += 1) {
    expect(await read(store.db, 'a')).toBe('1')
    expect(await read(store.db, 'b')).toBeUndefined()
  }
  expect(asked).toBe(2)
})

test('a write is seen by the next read, whether alone, in a transaction or of another process', async () => {
  const other = openStore(store.folder, { migrations, synchronous: 'off' })
  for (let i = 0; i < 20; i += 1) {
    await put(store.db, 'a', `alone ${i}`)
    expect(await read(store.db, 'a')).toBe(`alone ${i}`)
    await inTransaction({ db: store.db }, (ctx) => put(ctx.db, 'a', `together ${i}`))
    expect(await read(store.db, 'a')).toBe(`together ${i}`)
    await put(other.db, 'a', `elsewhere ${i}`)
    // A request that comes now comes after that.
    await nextRequest()
    expect(await read(store.db, 'a')).toBe(`elsewhere ${i}`)
  }
  await other.close()
})

test('a transaction sees what it wrote, and others do not before its end', async () => {
  await put(store.db, 'a', 'before')
  expect(await read(store.db, 'a')).toBe('before')
  await inTransaction({ db: store.db }, async (ctx) => {
    await put(ctx.db, 'a', 'after')
    expect(await read(ctx.db, 'a')).toBe('after')
    expect(await read(store.db, 'a')).toBe('before')
  })
  expect(await read(store.db, 'a')).toBe('after')
})

test('what was asked before a write and answered after it is not kept', async () => {
  await put(store.db, 'a', 'old')
  const slow = cachedQuery(store.db, 'slow', async () => {
    await put(store.db, 'a', 'new')
    return 'old'
  })
  expect(await slow).toBe('old')
  expect(await cachedQuery(store.db, 'slow', async () => 'new')).toBe('new')
})
