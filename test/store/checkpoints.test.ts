import { rmSync, statSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore, type Store } from '../../src/store/connection.ts'
import { newFolder, placeDatabase } from '../support/database.ts'

let folder: string
let store: Store
beforeEach(() => {
  folder = newFolder()
  placeDatabase(folder)
  store = openStore(folder, { migrations })
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

test('what the log holds is copied into the database while nobody commits', async () => {
  const before = statSync(store.path).size
  const value = JSON.stringify('x'.repeat(4_000_000))
  await store.db.insertInto('settings').values({ key: 'large', value }).execute()
  expect(statSync(store.path).size).toBe(before)
  await expect.poll(() => statSync(store.path).size).toBeGreaterThan(before + 3_900_000)
})

test('rows that are written meanwhile are all there, and the log begins anew', async () => {
  const value = JSON.stringify('x'.repeat(10_000))
  for (let n = 0; n < 6000; n += 1) {
    await store.db
      .insertInto('settings')
      .values({ key: `k${n}`, value })
      .execute()
  }
  // 18,000 pages of 4 KB and more were written in all.
  expect(statSync(`${store.path}-wal`).size).toBeLessThan(70_000_000)
  expect(store.faults()).toEqual([])
  const { rows } = await store.db
    .selectFrom('settings')
    .select((is) => is.fn.countAll<number>().as('rows'))
    .where('key', 'like', 'k%')
    .executeTakeFirstOrThrow()
  expect(rows).toBe(6000)
})
