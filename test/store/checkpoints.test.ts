import { closeSync, openSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore, type Store } from '../../src/store/connection.ts'
import { expectedFrames } from '../../src/store/sqlite/wal.ts'
import { newFolder, placeDatabase } from '../support/database.ts'

let folder: string
let store: Store
let index: number
beforeEach(() => {
  folder = newFolder()
  placeDatabase(folder)
  store = openStore(folder, { migrations })
  index = openSync(`${store.path}-shm`, 'r')
})
afterEach(async () => {
  await store.close()
  closeSync(index)
  rmSync(folder, { recursive: true, force: true })
})

/** Fills some three pages of the log. */
async function write(key: string): Promise<void> {
  const value = JSON.stringify('x'.repeat(10_000))
  await store.db.insertInto('settings').values({ key, value }).execute()
}

test('what the log holds is copied into the database while nobody commits', async () => {
  // In one commit: of what is written while a copy runs, the last pages wait for more.
  const value = JSON.stringify('x'.repeat(16_000_000))
  await store.db.insertInto('settings').values({ key: 'large', value }).execute()
  expect(expectedFrames(index)).toBeGreaterThan(3000)
  await expect.poll(() => expectedFrames(index)).toBe(0)
})

test('rows that are written meanwhile are all there, and the log begins anew', async () => {
  let most = 0
  for (let n = 0; n < 6000; n += 1) {
    await write(`k${n}`)
    most = Math.max(most, expectedFrames(index))
  }
  // 18,000 pages and more were written in all; how many lie in the log at one time depends on the machine.
  expect(most).toBeGreaterThan(1000)
  expect(most).toBeLessThan(15_000)
  expect(store.faults()).toEqual([])
  const { rows } = await store.db
    .selectFrom('settings')
    .select((is) => is.fn.countAll<number>().as('rows'))
    .where('key', 'like', 'k%')
    .executeTakeFirstOrThrow()
  expect(rows).toBe(6000)
})
