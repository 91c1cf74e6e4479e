import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OpenRepository } from '../../../src/git/engine/open-repository.ts'
import { hashBlob, readBlob, sha256, streamBlob } from '../../../src/git/objects/blob.ts'
import { readObjectHeader } from '../../../src/git/objects/objects.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
const contents = new Map<string, Buffer>()

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const base = Buffer.from('a line of text that repeats\n'.repeat(4000))
  const variants = Array.from({ length: 30 }, (_, i) =>
    Buffer.concat([base.subarray(0, i * 997), Buffer.from(`changed ${i}\n`), base]),
  )
  for (const data of [Buffer.alloc(0), randomBytes(3_000_000), Buffer.alloc(300, 7), ...variants]) {
    contents.set(git(repo.path, ['hash-object', '-w', '--stdin'], { input: data }), data)
  }
})
afterAll(() => world.close())

async function checkAll(): Promise<void> {
  const open = new OpenRepository(repo.path)
  for (const [id, data] of contents) {
    expect(await readObjectHeader(open, id)).toEqual({ type: 'blob', size: data.length })
    expect((await readBlob(repo, id)).content.equals(data)).toBe(true)
    const whole = await streamBlob(repo, id)
    expect(whole.size).toBe(data.length)
    expect((await buffer(whole.body)).equals(data)).toBe(true)
    expect(await hashBlob(repo, id)).toBe(sha256(data))
  }
}

test('blobs are whole, loose and packed as deltas', async () => {
  await checkAll()
  const tree = git(repo.path, ['mktree'], {
    input: [...contents.keys()].map((id, i) => `100644 blob ${id}\tf${i}`).join('\n'),
  })
  git(repo.path, [
    'update-ref',
    'refs/heads/main',
    git(repo.path, ['commit-tree', '-m', 'x', tree]),
  ])
  git(repo.path, ['repack', '-adfq'])
  await checkAll()
})

test('a range of a blob is cut exactly, small and large', async () => {
  for (const [id, data] of contents) {
    if (data.length < 100) continue
    for (const [start, end] of [
      [0, 0],
      [10, 99],
      [data.length - 7, undefined],
      [5, data.length * 2],
    ] as const) {
      const { body } = await streamBlob(repo, id, { start, end })
      const wanted = data.subarray(start, end === undefined ? undefined : end + 1)
      expect((await buffer(body)).equals(wanted)).toBe(true)
    }
  }
})

test('readers who never read hold up nobody else, and leave nothing running', async () => {
  const [id, data] = [...contents].find(([, content]) => content.length > 1_000_000) ?? ['']
  // More than may be lent of what is kept in memory, and more than an engine process streams at once.
  const idle = await Promise.all(Array.from({ length: 40 }, () => streamBlob(repo, id)))
  const { body } = await streamBlob(repo, id)
  expect((await buffer(body)).equals(data ?? Buffer.alloc(0))).toBe(true)
  for (const stream of idle) stream.body.destroy()
  const again = await Promise.all(Array.from({ length: 20 }, () => streamBlob(repo, id)))
  const whole = await Promise.all(again.map((stream) => buffer(stream.body)))
  expect(whole.every((each) => each.equals(data ?? Buffer.alloc(0)))).toBe(true)
})

test('a blob beyond the limit is refused before it is read', async () => {
  const [id] = [...contents].find(([, data]) => data.length > 1_000_000) ?? ['']
  await expect(readBlob(repo, id, { limit: 1000 })).rejects.toMatchObject({
    code: 'too_large',
    detail: { size: 3_000_000 },
  })
})

test('a tree is not a blob', async () => {
  const tree = git(repo.path, ['mktree'], { input: '' })
  await expect(readBlob(repo, tree)).rejects.toMatchObject({ code: 'not_found' })
})

test('a damaged object is a typed error', async () => {
  const id = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'will be damaged' })
  const path = join(repo.path, 'objects', id.slice(0, 2), id.slice(2))
  git(repo.path, ['cat-file', '-e', id])
  const { chmodSync } = await import('node:fs')
  chmodSync(path, 0o644)
  writeFileSync(path, 'not zlib')
  await expect(readBlob(repo, id)).rejects.toMatchObject({ code: 'damaged' })
})

test('the hash of a file is worked out once', async () => {
  const data = randomBytes(300_000)
  const id = git(repo.path, ['hash-object', '-w', '--stdin'], { input: data })
  let asked = 0
  const engine = new Proxy(repo.engine, {
    get(target, name) {
      if (name === 'run') asked += 1
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  const watched = { ...repo, engine }
  expect(await hashBlob(watched, id)).toBe(sha256(data))
  const once = asked
  expect(await hashBlob(watched, id)).toBe(sha256(data))
  expect([once, asked]).toEqual([1, 1])
})
