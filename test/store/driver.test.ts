import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inTransaction } from '../../src/store/transaction.ts'
import { newFolder, openTestStore, type TestStore } from '../support/database.ts'

let store: TestStore
beforeEach(() => {
  store = openTestStore()
})
afterEach(() => store.remove())

async function put(key: string, value: unknown, db = store.db) {
  await db
    .insertInto('settings')
    .values({ key, value: JSON.stringify(value) })
    .execute()
}

async function keys(db = store.db) {
  const rows = await db.selectFrom('settings').select('key').orderBy('key').execute()
  return rows.map((row) => row.key)
}

describe('outside a transaction', () => {
  test('a read sees what was written just before', async () => {
    await put('a', 1)
    expect(await keys()).toEqual(['a'])
  })

  test('a read does not wait for a transaction, and sees nothing of it before it ends', async () => {
    let goOn = () => {}
    const paused = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const writing = inTransaction(store, async (ctx) => {
      await put('a', 1, ctx.db)
      await paused
    })
    expect(await keys()).toEqual([])
    goOn()
    await writing
    expect(await keys()).toEqual(['a'])
  })

  test('a write waits until the transaction before it has ended', async () => {
    const order: string[] = []
    const transaction = inTransaction(store, async (ctx) => {
      await put('a', 1, ctx.db)
      await new Promise((resolve) => setImmediate(resolve))
      order.push('transaction')
    })
    const single = put('b', 1).then(() => order.push('single'))
    await Promise.all([transaction, single])
    expect(order).toEqual(['transaction', 'single'])
  })

  test('raw SQL that reads runs beside a transaction, raw SQL that writes takes its turn', async () => {
    await sql`insert into settings (key, value) values ('raw', '1')`.execute(store.db)
    const { rows } = await sql<{ n: number }>`select count(*) as n from settings`.execute(store.db)
    expect(rows).toEqual([{ n: 1 }])
  })

  test('a stream of rows leaves later reads their own view', async () => {
    for (let index = 0; index < 300; index++) await put(`k${index}`, index)
    let seen = 0
    for await (const _row of store.db.selectFrom('settings').selectAll().stream()) {
      seen++
      if (seen === 1) {
        await put('late', 1)
        expect(await keys()).toHaveLength(301)
      }
    }
    expect(seen).toBe(300)
  })
})

describe('a transaction', () => {
  test('reads its own writes', async () => {
    const seen = await inTransaction(store, async (ctx) => {
      await put('a', 1, ctx.db)
      return keys(ctx.db)
    })
    expect(seen).toEqual(['a'])
  })

  test('that throws leaves nothing, and the next one goes on', async () => {
    const failing = inTransaction(store, async (ctx) => {
      await put('a', 1, ctx.db)
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    await inTransaction(store, (ctx) => put('b', 1, ctx.db))
    expect(await keys()).toEqual(['b'])
  })

  test('inside another joins it, and is undone with it', async () => {
    const outer = inTransaction(store, async (ctx) => {
      await inTransaction(ctx, (inner) => put('a', 1, inner.db))
      throw new Error('no')
    })
    await expect(outer).rejects.toThrow('no')
    expect(await keys()).toEqual([])
  })

  test('that is over refuses late queries', async () => {
    const escaped = await inTransaction(store, async (ctx) => ctx.db)
    await expect(put('a', 1, escaped)).rejects.toThrow('already committed')
  })

  test('fifty at once each add one, and none is lost', async () => {
    await put('n', 0)
    await Promise.all(
      Array.from({ length: 50 }, () =>
        inTransaction(store, async (ctx) => {
          const row = await ctx.db.selectFrom('settings').select('value').executeTakeFirstOrThrow()
          await ctx.db
            .updateTable('settings')
            .set({ value: String(Number(row.value) + 1) })
            .execute()
        }),
      ),
    )
    expect(await store.db.selectFrom('settings').select('value').executeTakeFirstOrThrow()).toEqual(
      {
        value: '50',
      },
    )
  })
})

describe('values', () => {
  test('a limit stands in the statement, since SQLite would prepare it anew for each use', async () => {
    await put('a', 1)
    await put('b', 2)
    const query = store.db.selectFrom('settings').select('key').orderBy('key').limit(1).offset(1)
    expect(query.compile()).toMatchObject({
      sql: 'select "key" from "settings" order by "key" limit 1 offset ?',
      parameters: [1],
    })
    expect(await query.execute()).toEqual([{ key: 'b' }])
  })

  test('true and false are stored as 1 and 0', async () => {
    const { rows } = await sql<{
      a: number
      b: number
    }>`select ${true} as a, ${false} as b`.execute(store.db)
    expect(rows).toEqual([{ a: 1, b: 0 }])
  })

  test('a forgotten value is an error that names the statement', async () => {
    await expect(sql`select ${undefined} as a`.execute(store.db)).rejects.toThrow(
      'parameter 1 is undefined in: select ? as a',
    )
  })
})

test('a long loop of queries lets others in', async () => {
  let beats = 0
  const beat = setInterval(() => beats++, 5)
  const until = performance.now() + 200
  while (performance.now() < until) await keys()
  clearInterval(beat)
  expect(beats).toBeGreaterThan(5)
})

describe('a copy', () => {
  test('of a database that is written all the time is whole, and of one moment', async () => {
    let writing = true
    let last = 0
    const writer = (async () => {
      for (; writing; last++) {
        await inTransaction(store, async (ctx) => {
          await put(`left-${last}`, 'x'.repeat(3000), ctx.db)
          await put(`right-${last}`, 'x'.repeat(3000), ctx.db)
        })
      }
    })()
    await expect.poll(() => last, { interval: 2 }).toBeGreaterThan(200)
    const folder = newFolder()
    await store.copyTo(join(folder, 'gitstead.db'))
    writing = false
    await writer
    const copy = openTestStore(folder)
    expect(copy.faults()).toEqual([])
    const copied = await keys(copy.db)
    expect(copied.filter((key) => key.startsWith('left')).length).toBeGreaterThan(200)
    expect(copied.filter((key) => key.startsWith('left'))).toHaveLength(copied.length / 2)
    await copy.remove()
  })
})

describe('a full disk', () => {
  test('undoes the transaction that met it; reads go on, and writes when there is room again', async () => {
    await put('a', 1)
    // The limit is a property of a connection: an own store on the folder meets it, as it would meet the disk's end.
    const { rows } = await sql<{ page_count: number }>`pragma page_count`.execute(store.db)
    const limit = (pages: number) =>
      inTransaction(store, (ctx) => sql.raw(`pragma max_page_count = ${pages}`).execute(ctx.db))
    await limit((rows[0]?.page_count ?? 0) + 5)
    const filling = inTransaction(store, async (ctx) => {
      for (let n = 0; n < 100; n++) await put(`k${n}`, 'x'.repeat(3000), ctx.db)
    })
    await expect(filling).rejects.toThrow('database or disk is full')
    expect(await keys()).toEqual(['a'])
    await limit(1_000_000)
    await put('b', 2)
    expect(await keys()).toEqual(['a', 'b'])
  })
})

test('closing waits for the transaction that is open', async () => {
  const folder = newFolder()
  const own = openTestStore(folder)
  let begun = false
  const writing = inTransaction(own, async (ctx) => {
    await put('a', 1, ctx.db)
    begun = true
    await new Promise((resolve) => setImmediate(resolve))
    await put('b', 1, ctx.db)
  })
  await expect.poll(() => begun, { interval: 1 }).toBe(true)
  await own.close()
  await writing
  const again = openTestStore(folder)
  expect(await keys(again.db)).toEqual(['a', 'b'])
  await again.remove()
})
