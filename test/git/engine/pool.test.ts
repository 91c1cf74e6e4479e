import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openEngineStream } from '../../../src/git/engine/engine-stream.ts'
import { packError, unpackError } from '../../../src/git/engine/messages.ts'
import { EnginePool, type PoolOptions } from '../../../src/git/engine/pool.ts'
import { GitError } from '../../../src/git/error.ts'
import { readLog, readLogOperation } from '../../../src/git/history/log.ts'
import { countAheadBehind } from '../../../src/git/history/merge-base.ts'
import { emitBlobOperation, readBlob } from '../../../src/git/objects/blob.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
/** Of blobs that the main process leaves to the others, a small and a large one. */
let small: string
let large: string
const bytes = randomBytes(6 * 1024 * 1024)
const pools: EnginePool[] = []

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  commitFiles(repo, { files: { a: 'a' } })
  commitFiles(repo, { files: { a: 'b' } })
  small = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'x'.repeat(100_000) })
  large = git(repo.path, ['hash-object', '-w', '--stdin'], { input: bytes })
})
afterAll(() => world.close())
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close()
})

/** The repository behind engine processes of its own. */
function behind(options: PoolOptions): { pool: EnginePool; local: Repo } {
  const pool = new EnginePool(options)
  pools.push(pool)
  return { pool, local: { ...repo, engine: pool } }
}

/** A question for a process for light work, and one for heavy work. */
const light = (local: Repo) => countAheadBehind(local, 'main~1', ['main'])
const heavy = (local: Repo) => readLog(local, { limit: 5, path: 'a' })

const signal = (pids: readonly number[], name: NodeJS.Signals) => {
  for (const pid of pids) process.kill(pid, name)
}

describe('engine processes', () => {
  test('stream for others while the readers of one caller take nothing', async () => {
    const { pool } = behind({ processes: 1 })
    const stalled = new AbortController()
    const never = () => new Promise<void>(() => {})
    const slow = Array.from({ length: 12 }, () =>
      pool.of('192.0.2.1').run(emitBlobOperation, repo.path, { id: large }, stalled.signal, never),
    )
    for (const one of slow) one.catch(() => {})
    let size = 0
    await pool
      .of('192.0.2.2')
      .run(emitBlobOperation, repo.path, { id: large }, undefined, async (piece) => {
        size += piece.byteLength
      })
    expect(size).toBe(bytes.length)
    expect(pool.load().waiting.stream).toBe(8)
    stalled.abort()
  }, 30_000)

  test('start when they are needed, and light work is done while those for heavy work stand still', async () => {
    const { pool, local } = behind({ processes: 2 })
    expect(pool.load()).toMatchObject({ processes: 0, running: 0, memory: 0 })
    await heavy(local)
    expect(pool.pids).toHaveLength(1)
    const stopped = pool.pids
    signal(stopped, 'SIGSTOP')
    const waiting = [heavy(local), heavy(local), heavy(local)]
    expect(await light(local)).toEqual([{ ahead: 1, behind: 0 }])
    expect((await readBlob(local, small)).size).toBe(100_000)
    expect(pool.load()).toMatchObject({
      ...{ processes: 2, running: 2, waiting: { light: 0, heavy: 1, stream: 0 } },
    })
    signal(stopped, 'SIGCONT')
    for (const { commits } of await Promise.all(waiting)) expect(commits).toHaveLength(2)
    // What takes too long is given up, and what is asked then is answered.
    const hasty = { ...readLogOperation, seconds: 1 }
    signal(stopped, 'SIGSTOP')
    const late = pool.run(hasty, repo.path, { limit: 5, path: 'a' })
    await expect(late).rejects.toMatchObject({ code: 'timeout' })
    signal(stopped, 'SIGCONT')
    expect((await heavy(local)).commits).toHaveLength(2)
    expect(pool.pids).toHaveLength(2)
    // A repository that is forgotten is read anew.
    commitFiles(repo, { files: { a: 'c' } })
    pool.forget(local.path)
    expect((await heavy(local)).commits).toHaveLength(3)
    git(repo.path, ['update-ref', 'refs/heads/main', 'main~1'])
  })

  test('that have grown take no more work and give way to others', async () => {
    const { pool, local } = behind({ processes: 1, memory: 1 })
    const seen = new Set<number>()
    // Memory is measured now and then.
    for (let i = 0; i < 30 && seen.size < 2; i += 1) {
      expect((await readBlob(local, small)).size).toBe(100_000)
      for (const pid of pool.pids) seen.add(pid)
    }
    expect(seen.size).toBe(2)
    expect(pool.pids.length).toBeLessThanOrEqual(1)
  })

  test('that die in the middle of a stream break it; a reader that goes away, or the end, lets go', async () => {
    const { pool, local } = behind({ processes: 1 })
    const input = { id: large }
    const open = () => openEngineStream(local, emitBlobOperation, input)
    for (let i = 0; i < 10; i += 1) {
      const body = await open()
      body.destroy()
      await once(body, 'close')
    }
    // More than a process has room for, had they stayed.
    await expect.poll(() => pool.load().running, { timeout: 10_000 }).toBe(0)
    // Nobody reads, so that it cannot have come to its end. It is not begun again.
    const broken = await open()
    signal(pool.pids, 'SIGKILL')
    await expect(buffer(broken)).rejects.toMatchObject({ code: 'failed' })
    expect((await buffer(await open())).equals(bytes)).toBe(true)
    signal(pool.pids, 'SIGSTOP')
    const waiting = light(local)
    await pool.close()
    await expect(waiting).rejects.toMatchObject({ code: 'failed' })
    await expect(light(local)).rejects.toMatchObject({ code: 'failed' })
    expect(pool.pids).toEqual([])
  })

  test('are not started for a caller who has gone', async () => {
    const { pool, local } = behind({ processes: 1 })
    const gone = countAheadBehind(local, 'main', ['main'], AbortSignal.abort())
    await expect(gone).rejects.toMatchObject({ code: 'timeout' })
    expect(pool.pids).toEqual([])
  })
})

describe('errors', () => {
  test('of the engine cross processes as they are', () => {
    const error = new GitError('conflict', 'in the way', { ref: 'a', count: 2 })
    const there = unpackError(structuredClone(packError(error)))
    expect(there).toBeInstanceOf(GitError)
    expect(there).toMatchObject({
      code: 'conflict',
      message: 'in the way',
      detail: { ref: 'a', count: 2 },
    })
  })

  test('that are bugs keep their words and where they happened', () => {
    const bug = new TypeError('x is not a function')
    const there = unpackError(structuredClone(packError(bug)))
    expect(there).not.toBeInstanceOf(GitError)
    expect(there.message).toBe('x is not a function')
    expect(there.stack).toBe(bug.stack)
    expect(unpackError(packError('text')).message).toBe('text')
  })

  test('of a full disk say so, whoever met them', () => {
    const full = Object.assign(new Error('write'), { code: 'ENOSPC' })
    expect(unpackError(packError(full))).toMatchObject({ code: 'full' })
  })
})
