import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readLfsPointer } from '../../../src/git/objects/lfs-pointer.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { readNewPointers } from '../../../src/git/transfer/new-pointers.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
let folder: string

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  folder = mkdtempSync(join(tmpdir(), 'gitstead-pointers-'))
})
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true })
  await world.close()
})

const oidOf = (text: string) => createHash('sha256').update(text).digest('hex')
const pointer = (oid: string, size: number) =>
  `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize ${size}\n`

test('pointers are read as git-lfs reads them', () => {
  const content = 'some large file'
  git(folder, ['init', '-q', 'work'])
  const cwd = join(folder, 'work')
  const made = execFileSync('git-lfs', ['clean'], { input: content, cwd }).toString()
  expect(made).toBe(pointer(oidOf(content), content.length))
  const read = (text: string) => readLfsPointer(Buffer.from(text))
  expect(read(made)).toEqual({ oid: oidOf(content), size: content.length })
  expect(read(made.trimEnd())).toEqual({ oid: oidOf(content), size: content.length })
  const extended = made.replace('oid ', `ext-0-x sha256:${'a'.repeat(64)}\noid `)
  expect(read(extended)?.oid).toBe(oidOf(content))
  for (const other of [
    '',
    content,
    made.slice(10),
    made.replace('sha256', 'sha1'),
    made.replace(/size \d+/, 'size -1'),
    made.replace(/size \d+/, `size ${'9'.repeat(17)}`),
    made + ' '.repeat(1024),
    `x${made}`,
  ]) {
    expect(read(other), other).toBeUndefined()
  }
})

test('those of a push are found among many other objects, packed and loose', async () => {
  const before = pointer(oidOf('before'), 1)
  git(repo.path, ['hash-object', '-w', '--stdin'], { input: before })
  for (const name of ['packed', 'loose']) git(folder, ['init', '-q', '--bare', `${name}.git`])
  const input = [before, pointer(oidOf('one'), 3), 'x'.repeat(130), pointer(oidOf('two'), 5)]
  const objects = (name: string) => ({
    GIT_OBJECT_DIRECTORY: join(folder, `${name}.git`, 'objects'),
  })
  for (const text of input.slice(1)) {
    git(repo.path, ['hash-object', '-w', '--stdin'], { input: text, env: objects('loose') })
  }
  const found = await readNewPointers(repo, join(folder, 'loose.git', 'objects'))
  expect(found.map(({ oid }) => oid).sort()).toEqual([oidOf('one'), oidOf('two')].sort())

  // More blobs of a pointer's size than are looked at in one go.
  const blobs = Array.from({ length: 10_050 }, (_, i) => pointer(oidOf(`many ${i}`), i))
  const stream = blobs.map((text) => `blob\ndata ${text.length}\n${text}\n`).join('')
  git(join(folder, 'packed.git'), ['fast-import', '--quiet'], { input: stream })
  const many = await readNewPointers(repo, join(folder, 'packed.git', 'objects'))
  expect(new Set(many.map(({ oid }) => oid)).size).toBe(10_050)
})
