import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { inTransaction } from '../../src/store/transaction.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

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
      await new Promise((resolve) => setTimeout(resolve, 20))
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
