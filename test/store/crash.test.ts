import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore } from '../../src/store/connection.ts'
import { lockDataFolder } from '../../src/store/sqlite/lock.ts'
import { inTransaction } from '../../src/store/transaction.ts'
import { startChild } from '../support/child.ts'
import { newFolder, openTestStore } from '../support/database.ts'

let folder: string
beforeEach(() => {
  folder = newFolder()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const writer = new URL('./writer.mjs', import.meta.url)
const holder = new URL('./holder.mjs', import.meta.url)

async function readKeys(place: string) {
  const store = openStore(place, { migrations })
  try {
    expect(store.faults()).toEqual([])
    const rows = await store.db.selectFrom('settings').select('key').orderBy('key').execute()
    return rows.map((row) => row.key)
  } finally {
    await store.close()
  }
}

function valuesOf(keys: string[], side: 'left' | 'right') {
  return keys.filter((key) => key.startsWith(side)).map((key) => key.slice(side.length + 1))
}

describe('a process that is killed while it writes', () => {
  test('leaves a whole database with every acknowledged row, and no half transaction', async () => {
    const acknowledged: string[] = []
    for (const rows of [1, 8, 21]) {
      const child = startChild(writer, folder)
      let said = 0
      let killed: Promise<void> | undefined
      // It goes on writing while the signal is on its way.
      for (let line = await child.lines.next(); !line.done; line = await child.lines.next()) {
        acknowledged.push(line.value)
        said += 1
        if (said === rows) killed = child.kill()
      }
      await killed
      const keys = await readKeys(folder)
      expect(valuesOf(keys, 'left')).toEqual(valuesOf(keys, 'right'))
      expect(valuesOf(keys, 'left')).toEqual(expect.arrayContaining(acknowledged))
    }
    expect(acknowledged.length).toBeGreaterThanOrEqual(30)
  }, 120_000) // the processes read the sources anew
})

describe('a write-ahead log that did not reach the disk in full', () => {
  async function writtenWithoutCheckpoint(count: number) {
    const store = openTestStore(join(folder, 'source'))
    for (let n = 10; n < 10 + count; n++) {
      await inTransaction(store, async ({ db }) => {
        await db
          .insertInto('settings')
          .values({ key: `left-${n}`, value: '1' })
          .execute()
        await db
          .insertInto('settings')
          .values({ key: `right-${n}`, value: '1' })
          .execute()
      })
    }
    const wal = readFileSync(`${store.path}-wal`)
    copyFileSync(store.path, join(folder, 'saved.db'))
    await store.close()
    return wal
  }

  async function reopened(name: string, wal: Uint8Array) {
    const place = join(folder, name)
    mkdirSync(place)
    copyFileSync(join(folder, 'saved.db'), join(place, 'gitstead.db'))
    writeFileSync(join(place, 'gitstead.db-wal'), wal)
    return readKeys(place)
  }

  test('opens with the transactions up to the cut, each whole, wherever the cut is', async () => {
    const wal = await writtenWithoutCheckpoint(12)
    const all = await reopened('all', wal)
    expect(valuesOf(all, 'left')).toHaveLength(12)
    let before = 12
    for (let cut = wal.byteLength - 1; cut > 0; cut -= 1733) {
      const keys = await reopened(`cut-${cut}`, wal.subarray(0, cut))
      const left = valuesOf(keys, 'left')
      expect(left).toEqual(valuesOf(keys, 'right'))
      expect(left).toEqual(valuesOf(all, 'left').slice(0, left.length))
      expect(left.length).toBeLessThanOrEqual(before)
      before = left.length
    }
    expect(before).toBe(0)
  })

  test('opens when it is garbage, from any byte on', async () => {
    const wal = await writtenWithoutCheckpoint(6)
    for (const from of [0, 7, 40, 4200, wal.byteLength - 100]) {
      const broken = Buffer.from(wal)
      for (let at = from; at < broken.byteLength; at++) broken[at] = (at * 31 + 7) & 255
      const keys = await reopened(`garbage-${from}`, broken)
      expect(valuesOf(keys, 'left')).toEqual(valuesOf(keys, 'right'))
    }
  })
})

describe('another process that holds the database', () => {
  test('makes writes wait, while reads and the event loop go on', async () => {
    const store = openTestStore(folder)
    const child = startChild(holder, 'database', folder)
    expect(await child.lines.next()).toMatchObject({ value: 'held' })
    let longest = 0
    let last = performance.now()
    const beat = setInterval(() => {
      longest = Math.max(longest, performance.now() - last)
      last = performance.now()
    }, 5)
    const writing = inTransaction(store, ({ db }) =>
      db.insertInto('settings').values({ key: 'late', value: '1' }).execute(),
    )
    for (let n = 0; n < 10; n++) {
      expect(await store.db.selectFrom('settings').selectAll().execute()).toEqual([])
      await pause(20)
    }
    child.process.stdin?.end()
    await writing
    clearInterval(beat)
    expect(await store.db.selectFrom('settings').select('key').execute()).toEqual([{ key: 'late' }])
    // A blocked event loop would stand still until the write gives up, ten seconds later.
    expect(longest).toBeLessThan(2000)
    await store.close()
  })

  test('for too long makes the write fail, and the next one works', async () => {
    await openTestStore(folder).close()
    const store = openStore(folder, { migrations, timeoutMs: 100 })
    const child = startChild(holder, 'database', folder)
    await child.lines.next()
    const add = (key: string) =>
      inTransaction(store, ({ db }) =>
        db.insertInto('settings').values({ key, value: '1' }).execute(),
      )
    await expect(add('a')).rejects.toMatchObject({ status: 503 })
    await expect(
      store.db.insertInto('settings').values({ key: 'b', value: '1' }).execute(),
    ).rejects.toMatchObject({ status: 503 })
    await child.kill()
    await add('c')
    expect(await store.db.selectFrom('settings').select('key').execute()).toEqual([{ key: 'c' }])
    await store.close()
  })
})

describe('a data folder', () => {
  test('is refused to a second server in one line, until the first is gone, however it went', async () => {
    const first = startChild(holder, 'lock', folder)
    expect(await first.lines.next()).toMatchObject({ value: 'held' })
    await expect(lockDataFolder(folder)).rejects.toThrow(
      `another server (process ${first.process.pid}) uses the data folder ${folder}`,
    )
    await first.kill()
    const lock = await lockDataFolder(folder)
    const other = startChild(holder, 'lock', folder)
    expect(await other.lines.next()).toMatchObject({
      value: `another server (process ${process.pid}) uses the data folder ${folder}`,
    })
    await expect(lockDataFolder(folder)).rejects.toThrow('another server')
    lock.release()
    const again = await lockDataFolder(folder)
    again.release()
  })

  test('waits for a command that opens it at that moment', async () => {
    const command = await lockDataFolder(folder)
    const waiting = lockDataFolder(folder)
    setTimeout(() => command.release(), 200)
    const server = await waiting
    server.release()
  })

  test('is not open to other users of the machine', async () => {
    const place = join(folder, 'new')
    const lock = await lockDataFolder(place)
    lock.release()
    expect(statSync(place).mode & 0o077).toBe(0)
  })
})
