import { once } from 'node:events'
import { closeSync } from 'node:fs'
import { readdir, readlink } from 'node:fs/promises'
import { PassThrough, Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { Semaphore } from '../../src/base/semaphore.ts'
import { BodyLimit } from '../../src/transport/body-limit.ts'
import { ResponseCache } from '../../src/transport/response-cache.ts'
import { busy, type Transport } from '../../src/transport/transport.ts'
import { uploadPack } from '../../src/transport/upload-pack.ts'
import { repoAt } from '../support/git.ts'
import { type ClientFolders, openClientFolders } from '../support/git-client.ts'

const free = new AbortController().signal

describe('slow senders', () => {
  const limit = (more: Partial<ConstructorParameters<typeof BodyLimit>[0]> = {}) =>
    new BodyLimit({ idleMs: 200, minRate: 100, graceMs: 400, maxBytes: 0, ...more })

  async function read(stream: Readable): Promise<number> {
    let size = 0
    for await (const chunk of stream) size += chunk.length
    return size
  }

  test('one that hangs is given up', async () => {
    const sender = limit()
    sender.write('begin')
    await expect(read(sender)).rejects.toMatchObject({ code: 'timeout' })
  })

  test('one that trickles is given up, although it never stops', async () => {
    const sender = limit()
    const timer = setInterval(() => sender.write('.'), 50)
    await expect(read(sender)).rejects.toMatchObject({ code: 'timeout' })
    clearInterval(timer)
  })

  test('one that we hold back ourselves is not', async () => {
    const sender = limit()
    Readable.from(Array.from({ length: 8 }, () => Buffer.alloc(16_384))).pipe(sender)
    await sleep(700)
    expect(await read(sender)).toBe(8 * 16_384)
  })

  test('one that never ends is stopped at the limit', async () => {
    const sender = limit({ maxBytes: 100_000 })
    Readable.from(Array.from({ length: 100 }, () => Buffer.alloc(16_384))).pipe(sender)
    await expect(read(sender)).rejects.toMatchObject({ code: 'too_large' })
  })
})

describe('a clone for which the system has no program', () => {
  test('gives its place back', async () => {
    const fetches = new Semaphore({ limit: 1, maxWaiting: 1, timeoutMs: 200, busy })
    const transport = { fetches, timeLimit: 0 } as unknown as Transport // all that is used here
    const repo = repoAt('no\0path')
    for (let count = 0; count < 2; count += 1) {
      const answer = uploadPack(transport, repo, Buffer.from('0000'), undefined, {
        log: silentLog,
        signal: free,
      })
      await expect(answer.next()).rejects.toMatchObject({ code: 'not_found' })
    }
  })
})

describe('semaphore', () => {
  test('are given in order, and each is used by one at a time', async () => {
    const semaphore = new Semaphore({ limit: 2, maxWaiting: 10, timeoutMs: 1000, busy })
    const order: number[] = []
    let taken = 0
    let most = 0
    await Promise.all(
      [1, 2, 3, 4, 5].map(async (number) => {
        const release = await semaphore.acquire(free)
        order.push(number)
        most = Math.max(most, ++taken)
        await new Promise((resolve) => setImmediate(resolve))
        taken--
        release()
        release()
      }),
    )
    expect(order).toEqual([1, 2, 3, 4, 5])
    expect(most).toBe(2)
  })

  test('whoever finds the line full, or waits too long, is told to come later', async () => {
    const semaphore = new Semaphore({ limit: 1, maxWaiting: 1, timeoutMs: 100, busy })
    const release = await semaphore.acquire(free)
    const waiting = semaphore.acquire(free)
    await expect(semaphore.acquire(free)).rejects.toMatchObject({
      status: 503,
      headers: { 'Retry-After': '5' },
    })
    await expect(waiting).rejects.toMatchObject({ status: 503 })
    release()
    const next = await semaphore.acquire(free)
    next()
  })

  test('a client that goes away leaves the line', async () => {
    const semaphore = new Semaphore({ limit: 1, maxWaiting: 1, timeoutMs: 1000, busy })
    const release = await semaphore.acquire(free)
    const gone = new AbortController()
    const waiting = semaphore.acquire(gone.signal)
    gone.abort()
    await expect(waiting).rejects.toThrow()
    const next = semaphore.acquire(free)
    release()
    await (await next)()
  })
})

describe('cached responses', () => {
  let folders: ClientFolders
  afterEach(() => folders.clear())

  const open = async (more: Partial<ConstructorParameters<typeof ResponseCache>[0]> = {}) => {
    folders = openClientFolders()
    const dir = await folders.folder()
    const size = { maxBytes: 1000, maxEntryBytes: 500, maxAgeMs: 60_000 }
    return new ResponseCache({ dir, ...size, ...more })
  }

  async function all(stream: AsyncIterable<Buffer>): Promise<string> {
    const chunks: Buffer[] = []
    for await (const chunk of stream) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  function maker(text: string) {
    const made = { times: 0, aborted: false }
    async function* make(signal: AbortSignal): AsyncGenerator<Buffer> {
      made.times++
      signal.addEventListener('abort', () => {
        made.aborted = true
      })
      for (const piece of text.match(/.{1,10}/g) ?? []) {
        await sleep(5)
        signal.throwIfAborted()
        yield Buffer.from(piece)
      }
    }
    return { made, make }
  }

  test('are made once for all who ask at once, and for those who come later', async () => {
    const cache = await open()
    const { made, make } = maker('x'.repeat(300))
    const ask = () => all(cache.serve('1', Buffer.from('q'), free, make))
    const answers = await Promise.all(Array.from({ length: 20 }, ask))
    expect(new Set([...answers, await ask()])).toEqual(new Set(['x'.repeat(300)]))
    expect(made.times).toBe(1)
  })

  test('belong to one repository and one request', async () => {
    const cache = await open()
    const { made, make } = maker('x')
    await all(cache.serve('1', Buffer.from('q'), free, make))
    await all(cache.serve('2', Buffer.from('q'), free, make))
    await all(cache.serve('1', Buffer.from('r'), free, make))
    expect(made.times).toBe(3)
  })

  test('go, oldest first, when there is no room, and large ones are not kept at all', async () => {
    const cache = await open()
    const { made, make } = maker('x'.repeat(400))
    for (const question of ['a', 'b', 'c', 'c', 'b', 'a']) {
      await all(cache.serve('1', Buffer.from(question), free, make))
    }
    expect(made.times).toBe(4)
    const large = maker('x'.repeat(600))
    for (let i = 0; i < 2; i++) await all(cache.serve('1', Buffer.from('l'), free, large.make))
    expect(large.made.times).toBe(2)
  })

  test('whose file cannot be closed end nothing', async () => {
    const unheard: unknown[] = []
    const note = (error: unknown) => unheard.push(error)
    process.on('unhandledRejection', note)
    try {
      folders = openClientFolders()
      const dir = await folders.folder()
      const size = { maxBytes: 1000, maxEntryBytes: 500, maxAgeMs: 60_000 }
      const cache = new ResponseCache({ dir, ...size })
      let closed = 0
      const make = async function* (signal: AbortSignal) {
        yield Buffer.from('x')
        await once(signal, 'abort')
        // The file of this answer, closed by the system before it is by the cache.
        for (const fd of await readdir('/proc/self/fd')) {
          const path = await readlink(`/proc/self/fd/${fd}`).catch(() => '')
          if (!path.startsWith(dir)) continue
          closed += 1
          closeSync(Number(fd))
        }
        throw signal.reason
      }
      for await (const piece of cache.serve('1', Buffer.from('q'), free, make)) {
        expect(piece.toString()).toBe('x')
        break
      }
      await expect.poll(() => closed).toBe(1)
      await sleep(20)
      expect(unheard).toEqual([])
    } finally {
      process.off('unhandledRejection', note)
    }
  })

  test('are given up when the last who waits has gone, not before', async () => {
    const cache = await open()
    const { made, make } = maker('x'.repeat(400))
    const first = new AbortController()
    const second = new AbortController()
    const asks = [first, second].map((one) =>
      all(cache.serve('1', Buffer.from('q'), one.signal, make)),
    )
    const ends = asks.map((ask) => ask.catch(() => 'gone'))
    await sleep(30)
    first.abort()
    await sleep(20)
    expect(made.aborted).toBe(false)
    second.abort()
    expect(await Promise.all(ends)).toEqual(['gone', 'gone'])
    expect(made.aborted).toBe(true)
    expect(await all(cache.serve('1', Buffer.from('q'), free, maker('fresh').make))).toBe('fresh')
  })

  test('a maker that fails fails for all who wait, and is tried anew', async () => {
    const cache = await open()
    async function* fail(): AsyncGenerator<Buffer> {
      yield Buffer.from('part')
      throw new Error('broken')
    }
    const ask = () => all(cache.serve('1', Buffer.from('q'), free, fail))
    await Promise.all([1, 2].map(() => expect(ask()).rejects.toThrow('broken')))
    expect(await all(cache.serve('1', Buffer.from('q'), free, maker('good').make))).toBe('good')
  })

  test('a folder that cannot be written does not keep anybody from reading', async () => {
    const cache = await open({ dir: '/dev/full/no/folder' })
    await expect(all(cache.serve('1', Buffer.from('q'), free, maker('direct').make))).resolves.toBe(
      'direct',
    )
  })
})

test('a stream that is passed through unread does not lose bytes', async () => {
  const sender = new BodyLimit({ idleMs: 1000, minRate: 0, graceMs: 1000, maxBytes: 0 })
  const target = new PassThrough()
  sender.pipe(target)
  sender.end('all of it')
  let text = ''
  for await (const chunk of target) text += chunk
  expect(text).toBe('all of it')
})
