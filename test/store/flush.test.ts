import {
  appendFileSync,
  closeSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore } from '../../src/store/connection.ts'
import { Flush } from '../../src/store/sqlite/flush.ts'
import { LogMender } from '../../src/store/sqlite/mend-log.ts'
import { flushLater, inTransaction } from '../../src/store/transaction.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitstead-flush-'))
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

async function put(db: ReturnType<typeof openStore>['db'], key: string): Promise<void> {
  await db.insertInto('settings').values({ key, value: '1' }).execute()
}

test('callers that come during a flush share the next one', async () => {
  const path = join(folder, 'wal')
  appendFileSync(path, 'x')
  const flush = new Flush(path)
  const first = flush.done()
  const others = Array.from({ length: 10 }, () => flush.done())
  expect(new Set(others).size).toBe(1)
  expect(others[0]).not.toBe(first)
  await Promise.all([first, ...others])
  const later = flush.done()
  expect(later).not.toBe(others[0])
  await later
  flush.close()
})

test('after a failure nothing counts as being on the disk any more, until all is mended', async () => {
  let mends = 0
  // A device cannot be flushed.
  const flush = new Flush('/dev/null', { mend: () => ++mends > 2 })
  await expect(flush.done()).rejects.toThrow('EINVAL')
  await expect(flush.done()).rejects.toThrow('EINVAL')
  await flush.done()
  expect(mends).toBe(3)
  flush.close()
})

test('a file that could not be opened for the moment is no failed flush', async () => {
  const flush = new Flush(join(folder, 'later'))
  await expect(flush.done()).rejects.toThrow('ENOENT')
  appendFileSync(join(folder, 'later'), 'x')
  await flush.done()
  flush.close()
})

describe('mending a log that could not be flushed', () => {
  async function written() {
    const store = openStore(folder, { migrations })
    await put(store.db, 'a')
    const writer = new Database(store.path)
    return { store, writer, mender: new LogMender(store.path, writer) }
  }

  test('brings what it holds into the database file, and begins it anew', async () => {
    const { store, writer, mender } = await written()
    expect(mender.mend()).toBe(true)
    expect(statSync(`${store.path}-wal`).size).toBe(0)
    await put(store.db, 'b')
    const rows = await store.db.selectFrom('settings').select('key').orderBy('key').execute()
    expect(rows.map((row) => row.key)).toEqual(['a', 'b'])
    writer.close()
    mender.close()
    await store.close()
  })

  test('waits for an open transaction, and refuses what it cannot read back whole', async () => {
    const { store, writer, mender } = await written()
    writer.exec('BEGIN IMMEDIATE')
    expect(mender.mend()).toBe(false)
    writer.exec('ROLLBACK')
    const log = openSync(`${store.path}-wal`, 'r+')
    // Within the first page: a checkpoint may have begun the log anew, and what lies behind is of no account then.
    const byte = Buffer.alloc(1)
    readSync(log, byte, 0, 1, 1000)
    writeSync(log, Buffer.from([byte.readUInt8() ^ 1]), 0, 1, 1000)
    expect(mender.mend()).toBe(false)
    expect(statSync(`${store.path}-wal`).size).toBeGreaterThan(0)
    writer.close()
    mender.close()
    await store.close()
    closeSync(log)
  })
})

test('a write is told of only after a flush, a read and a write of nothing need none', async () => {
  const done = vi.spyOn(Flush.prototype, 'done')
  const store = openStore(folder, { migrations })
  await put(store.db, 'a')
  expect(done).toHaveBeenCalledTimes(1)
  await inTransaction(store, async (ctx) => {
    await put(ctx.db, 'b')
    await put(ctx.db, 'c')
  })
  expect(done).toHaveBeenCalledTimes(2)
  await store.db.selectFrom('settings').selectAll().execute()
  await store.db.deleteFrom('settings').where('key', '=', 'z').execute()
  await inTransaction(store, (ctx) => ctx.db.selectFrom('settings').selectAll().execute())
  expect(done).toHaveBeenCalledTimes(2)
  await store.close()
})

test('a commit that does not reach the disk fails, and leaves the transaction after it alone', async () => {
  const store = openStore(folder, { migrations })
  await put(store.db, 'a')
  let fail = (_error: Error) => {}
  vi.spyOn(Flush.prototype, 'done').mockImplementationOnce(
    () =>
      new Promise((_resolve, reject) => {
        fail = reject
      }),
  )
  const lost = inTransaction(store, (ctx) => put(ctx.db, 'b'))
  const next = inTransaction(store, async (ctx) => {
    await put(ctx.db, 'c')
    fail(new Error('EIO'))
    await new Promise((resolve) => setImmediate(resolve))
    await put(ctx.db, 'd')
  })
  await expect(lost).rejects.toThrow('EIO')
  await next
  const rows = await store.db.selectFrom('settings').select('key').orderBy('key').execute()
  expect(rows.map((row) => row.key)).toEqual(['a', 'b', 'c', 'd'])
  await store.close()
})

test('a transaction that can be found out again ends before it is on the disk, and gets there soon', async () => {
  const store = openStore(folder, { migrations })
  await put(store.db, 'a')
  const done = vi.spyOn(Flush.prototype, 'done')
  await inTransaction(store, async (ctx) => {
    await flushLater(ctx.db)
    await put(ctx.db, 'b')
  })
  expect(done).not.toHaveBeenCalled()
  await vi.waitFor(() => expect(done).toHaveBeenCalledTimes(1), 10_000)
  await expect(flushLater(store.db)).rejects.toThrow('outside')
  await store.close()
})

test('a flush that somebody waits for takes with it what can wait', async () => {
  const path = join(folder, 'log')
  appendFileSync(path, 'x')
  const flush = new Flush(path)
  const done = vi.spyOn(flush, 'done')
  flush.soon()
  await flush.done()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(done).toHaveBeenCalledTimes(1)
  flush.close()
})
