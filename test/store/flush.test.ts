import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { openStore } from '../../src/store/connection.ts'
import { Flush } from '../../src/store/sqlite/flush.ts'
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

const unexpected = (error: unknown) => {
  throw error
}

test('callers that come during a flush share the next one', async () => {
  const path = join(folder, 'wal')
  appendFileSync(path, 'x')
  const flush = new Flush(path, unexpected)
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

test('after a failure nothing counts as being on the disk any more, and the process is to end', async () => {
  const failed = vi.fn()
  // A device cannot be flushed.
  const flush = new Flush('/dev/null', failed)
  await expect(flush.done()).rejects.toThrow('EINVAL')
  await expect(flush.done()).rejects.toThrow('EINVAL')
  expect(failed).toHaveBeenCalledTimes(1)
  flush.close()
})

test('a file that could not be opened for the moment is no failed flush', async () => {
  const flush = new Flush(join(folder, 'later'), unexpected)
  await expect(flush.done()).rejects.toThrow('ENOENT')
  appendFileSync(join(folder, 'later'), 'x')
  await flush.done()
  flush.close()
})

test('a write is reported only after a flush; a read and a write of nothing need none', async () => {
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
  const flush = new Flush(path, unexpected)
  const done = vi.spyOn(flush, 'done')
  flush.soon()
  await flush.done()
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(done).toHaveBeenCalledTimes(1)
  flush.close()
})
