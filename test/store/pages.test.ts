import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Page } from '../../src/base/page.ts'
import { type Key, listPage, pageByKey, pageByOffset } from '../../src/store/pages.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

let store: TestStore
beforeEach(() => {
  store = openTestStore()
})
afterEach(() => store.remove())

/** `count` users; names repeat, so that an order by name needs the id as well. */
async function people(count: number, names: readonly string[] = ['ana', 'bo', 'cleo']) {
  const now = '2026-01-02T03:04:05.000Z'
  await store.db.transaction().execute(async (db) => {
    for (let n = 1; n <= count; n++) {
      const name = names[n % names.length] ?? ''
      const row = { username: `u${n}`, name, email: `u${n}@example.com` }
      await db
        .insertInto('users')
        .values({ ...row, created_at: now, updated_at: now })
        .execute()
    }
  })
}

const all = () => store.db.selectFrom('users').select(['users.id', 'users.name'])

describe('pages by number', () => {
  test('hold their rows and the total', async () => {
    await people(25)
    const query = all().orderBy('id')
    const ids = async (page: number) => {
      const { items, total } = await pageByOffset(store.db, query, { page, perPage: 10 })
      return [items.map((row) => row.id), total]
    }
    expect(await ids(1)).toEqual([Array.from({ length: 10 }, (_, n) => n + 1), 25])
    expect(await ids(3)).toEqual([[21, 22, 23, 24, 25], 25])
    expect(await ids(4)).toEqual([[], 25])
  })

  test('of nothing have a total of 0', async () => {
    expect(await pageByOffset(store.db, all(), { page: 1, perPage: 10 })).toEqual({
      items: [],
      total: 0,
    })
  })

  test('show a total of 10,000, and none beyond', async () => {
    await people(10_000)
    const total = async () => (await pageByOffset(store.db, all(), { page: 1, perPage: 1 })).total
    expect(await total()).toBe(10_000)
    await store.db
      .insertInto('users')
      .values({ username: 'x', name: 'x', email: 'x', created_at: 'x', updated_at: 'x' })
      .execute()
    expect(await total()).toBeUndefined()
  })

  test('count rows, not groups or duplicates', async () => {
    await people(25)
    const names = store.db.selectFrom('users').select('name').distinct()
    expect((await pageByOffset(store.db, names, { page: 1, perPage: 2 })).total).toBe(3)
  })
})

describe('pages by key', () => {
  test.each(['asc', 'desc'] as const)('yield every row once, %s', async (direction) => {
    await people(25)
    const seen: { id: number; name: string }[][] = []
    let after: Key | undefined
    do {
      const page = await pageByKey(
        all(),
        {
          column: 'users.name',
          id: 'users.id',
          direction,
          keyOf: (row) => ({ value: row.name, id: row.id }),
        },
        { limit: 7, after },
      )
      seen.push(page.items)
      after = page.next
    } while (after)
    const expected = (await all().execute()).sort(
      (one, other) => one.name.localeCompare(other.name) || one.id - other.id,
    )
    expect(seen.flat()).toEqual(direction === 'asc' ? expected : expected.reverse())
  })

  test('from a request carry their place as text, whatever the value looks like', async () => {
    await people(9, ['', '"', '#7', '10', "'; --"])
    const seen: number[] = []
    let after: Readonly<Record<string, string>> | undefined
    do {
      const page: Page = { kind: 'keyset', perPage: 2, orderBy: 'name', sort: 'asc', after }
      const found = await listPage(store.db, all(), page, {
        id: 'users.id',
        idOf: (row) => row.id,
        keys: { name: { column: 'users.name', valueOf: (row) => row.name } },
      })
      seen.push(...found.items.map((row) => row.id))
      after = found.next
    } while (after)
    expect(seen).toHaveLength(9)
    expect(new Set(seen).size).toBe(9)
  })
})
