import { readdirSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operation, operations } from '../../../src/git/engine/operation.ts'
import '../../../src/git/service/operations.ts'
import { EnginePool } from '../../../src/git/engine/pool.ts'
import { readBlob } from '../../../src/git/objects/blob.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
let id: string
/** Of a blob that is too large for the main process to read by itself. */
let far: string

beforeAll(async () => {
  world = openGitWorld(2)
  repo = await world.repository()
  id = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'hello\n' })
  const large = 'hello '.repeat(20_000)
  far = git(repo.path, ['hash-object', '-w', '--stdin'], { input: large })
})
afterAll(() => world.close())

function pool(): EnginePool {
  if (!(world.store.engine instanceof EnginePool)) throw new Error('the store has no pool')
  return world.store.engine
}

test('an engine process reads a blob', async () => {
  expect((await readBlob(repo, far)).size).toBe(120_000)
  expect(pool().pids.length).toBeGreaterThan(0)
})

test('a small blob is read without an engine process', async () => {
  const none = new EnginePool({ processes: 1 })
  const blob = await readBlob({ ...repo, engine: none }, id)
  expect(none.pids).toEqual([])
  await none.close()
  expect(Buffer.isBuffer(blob.content)).toBe(true)
  expect(blob).toEqual({ id, size: 6, content: Buffer.from('hello\n') })
})

test('an unknown object is a typed error', async () => {
  await expect(readBlob(repo, '1'.repeat(40))).rejects.toMatchObject({ code: 'not_found' })
})

test('what is no object id never reaches libgit2', async () => {
  await expect(readBlob(repo, 'abcd')).rejects.toMatchObject({ code: 'invalid' })
})

test('a killed engine loses no read, and the next ones succeed', async () => {
  await readBlob(repo, far)
  for (const signal of ['SIGSEGV', 'SIGKILL'] as const) {
    const before = pool().pids
    const underLoad = Promise.allSettled(Array.from({ length: 200 }, () => readBlob(repo, far)))
    for (const pid of before) process.kill(pid, signal)
    await readBlob(repo, far)
    const results = await underLoad
    expect(results.filter((result) => result.status === 'rejected')).toEqual([])
    expect(pool().pids.some((pid) => before.includes(pid))).toBe(false)
  }
})

test('a write whose engine dies is not tried again', async () => {
  const write = operation({
    name: 'readBlob',
    lane: 'light',
    writes: true,
    run: async () => undefined,
  })
  const { pids } = pool()
  // Stopped first: an engine on an idle core answers before it is killed.
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  const failed = Promise.allSettled(
    Array.from({ length: 6 }, () => pool().run(write, repo.path, { id, limit: 100 })),
  )
  for (const pid of pool().pids) process.kill(pid, 'SIGKILL')
  const reasons = (await failed).flatMap((each) =>
    each.status === 'rejected' ? [each.reason.message] : [],
  )
  expect(new Set(reasons)).toEqual(new Set(['the engine process died']))
})

test('a full queue is refused as busy', async () => {
  const small = new EnginePool({ processes: 1, queue: { light: 3 } })
  try {
    const read = operation({ name: 'readBlob', lane: 'light', run: async () => undefined })
    const results = await Promise.allSettled(
      Array.from({ length: 20 }, () => small.run(read, repo.path, { id, limit: 100 })),
    )
    const refused = results.filter((each) => each.status === 'rejected').map((each) => each.reason)
    expect(refused).toHaveLength(11)
    expect(refused[0]).toMatchObject({ code: 'busy' })
  } finally {
    await small.close()
  }
})

test('a caller that goes away gets its answer at once', async () => {
  const controller = new AbortController()
  const reading = readBlob(repo, far, {}, controller.signal)
  controller.abort()
  await expect(reading).rejects.toMatchObject({ code: 'timeout' })
  await expect(readBlob(repo, far)).resolves.toMatchObject({ size: 120_000 })
})

test('every operation that is declared is in the table of the engine processes', () => {
  const source = new URL('../../../src/git/', import.meta.url)
  const declared = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => [
      ...readFileSync(new URL(name, source), 'utf8').matchAll(
        /(?:operation|engineCall)\(\{\s*name: '(\w+)'/g,
      ),
    ])
    .map(([, name]) => name)
  expect(declared.filter((name) => !operations.has(name ?? ''))).toEqual([])
  expect(declared.length).toBeGreaterThan(10)
})
