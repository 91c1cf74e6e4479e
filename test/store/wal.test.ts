import { copyFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { makeConfig } from '../../src/base/config.ts'
import { makeLog } from '../../src/base/log.ts'
import { openServerParts } from '../../src/parts.ts'
import { findLogDamage } from '../../src/store/sqlite/wal.ts'
import { newFolder, openTestStore, type TestStore } from '../support/database.ts'

let folder: string
let store: TestStore
beforeEach(() => {
  folder = newFolder()
  store = openTestStore(join(folder, 'source'))
})
afterEach(async () => {
  await store.close()
  rmSync(folder, { recursive: true, force: true })
})

async function write(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const row = { key: `k${n}`, value: '1' }
    await store.db
      .insertInto('settings')
      .values(row)
      .onConflict((conflict) => conflict.column('key').doUpdateSet({ value: '2' }))
      .execute()
  }
}

/** The files as a killed process would leave them. */
function killed(name = 'killed'): string {
  const place = join(folder, name)
  mkdirSync(place)
  const path = join(place, 'gitstead.db')
  for (const ending of ['', '-wal', '-shm']) copyFileSync(store.path + ending, path + ending)
  return path
}

test('the log of a killed process is whole, with what an earlier round has left behind it too', async () => {
  await write(30)
  expect(findLogDamage(killed())).toBeUndefined()
  store.checkpoint()
  expect(findLogDamage(killed('emptied'))).toBeUndefined()
  await write(20)
  expect(findLogDamage(killed('again'))).toBeUndefined()
  expect(findLogDamage(join(folder, 'nothing.db'))).toBeUndefined()
})

test.each([
  [
    'overwritten',
    (path: string) => writeFileSync(path, 'x'.repeat(9000)),
    'does not begin as a log',
  ],
  ['gone', (path: string) => rmSync(path), 'it is gone'],
  ['empty', (path: string) => truncateSync(path, 0), 'it is empty'],
  ['cut off', (path: string) => truncateSync(path, 9000), 'it ends after page 2 of'],
  ['damaged in the middle', (path: string) => damage(path, 9000), 'damaged from page 3 on'],
])('a log that is %s is reported', async (_how, act, words) => {
  await write(30)
  const path = killed()
  act(`${path}-wal`)
  expect(findLogDamage(path)).toContain(words)
})

function damage(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

test('a server that starts with a destroyed log says so, and serves what is left', async () => {
  await write(30)
  const path = killed()
  damage(`${path}-wal`, 9000)
  const said: string[] = []
  const log = makeLog({ write: (line) => void said.push(line) })
  const data = join(path, '..')
  const parts = await openServerParts(makeConfig({ data }), { log, synchronous: 'off' })
  expect(parts.store.faults()).toEqual([])
  await parts.close()
  expect(said.map((line) => JSON.parse(line))).toContainEqual(
    expect.objectContaining({
      level: 'error',
      why: expect.stringContaining('damaged from page 3'),
    }),
  )
})
