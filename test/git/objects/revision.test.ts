import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCommit } from '../../../src/git/objects/commit.ts'
import { resolveRevision } from '../../../src/git/objects/revision.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
const ids: string[] = []

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const tree = git(repo.path, ['mktree'], { input: '' })
  for (let i = 0; i < 5; i += 1) {
    const parents = i === 4 ? ['-p', ids[3]!, '-p', ids[1]!] : i > 0 ? ['-p', ids[i - 1]!] : []
    ids.push(git(repo.path, ['commit-tree', '-m', `commit ${i}`, ...parents, tree]))
  }
  git(repo.path, ['update-ref', 'refs/heads/main', ids[4]!])
  git(repo.path, ['update-ref', 'refs/heads/both', ids[1]!])
  git(repo.path, ['update-ref', 'refs/heads/feature/one', ids[3]!])
  git(repo.path, ['update-ref', 'refs/heads/ümläut', ids[2]!])
  git(repo.path, ['tag', 'both', ids[2]!])
  git(repo.path, ['tag', '-a', '-m', 'annotated', 'v1', ids[3]!])
  git(repo.path, ['tag', '-a', '-m', 'nested', 'v2', 'v1'])
  git(repo.path, ['update-ref', 'refs/merge-requests/7/head', ids[0]!])
})
afterAll(() => world.close())

const known = [
  'HEAD',
  'main',
  'feature/one',
  'ümläut',
  'both',
  'v1',
  'v2',
  'refs/tags/v2',
  'refs/heads/both',
  'heads/both',
  'merge-requests/7/head',
  'main~2',
  'main^2',
  'main^2~1',
  'v1^',
  'HEAD^0',
]

test.each(['loose', 'packed'])('revisions mean what git says, refs %s', async (form) => {
  if (form === 'packed') git(repo.path, ['pack-refs', '--all'])
  const shorts = ids.map((id) => id.slice(0, 10))
  for (const revision of [...known, ...ids, ...shorts]) {
    const expected = git(repo.path, ['rev-parse', `${revision}^{commit}`])
    expect([revision, (await resolveRevision(repo, revision)).commitId]).toEqual([
      revision,
      expected,
    ])
  }
})

test('a kind limits where a name is looked up', async () => {
  expect((await resolveRevision(repo, 'both', { kind: 'branch' })).commitId).toBe(ids[1])
  expect((await resolveRevision(repo, 'both', { kind: 'tag' })).commitId).toBe(ids[2])
  await expect(resolveRevision(repo, 'v1', { kind: 'branch' })).rejects.toMatchObject({
    code: 'not_found',
  })
})

test.each([
  '',
  '-x',
  '--all',
  ':/commit',
  'main@{0}',
  '@{-1}',
  'main:file',
  'a..b',
  'main^{tree}',
  'a b',
  '^main',
  'main\n',
])('%j is refused before any lookup', async (revision) => {
  await expect(resolveRevision(repo, revision)).rejects.toMatchObject({ code: 'invalid' })
})

test('what exists nowhere is not found', async () => {
  for (const revision of ['nope', 'f'.repeat(40), '0000000', 'main~99', 'main^3', 'ABCDEF12']) {
    await expect(resolveRevision(repo, revision)).rejects.toMatchObject({ code: 'not_found' })
  }
})

test('a ref is seen at once when it moves, appears or goes', async () => {
  for (let round = 0; round < 20; round += 1) {
    const id = ids[round % 5]!
    git(repo.path, ['update-ref', 'refs/heads/moving', id])
    if (round % 3 === 0) git(repo.path, ['pack-refs', '--all'])
    expect((await resolveRevision(repo, 'moving')).commitId).toBe(id)
  }
  git(repo.path, ['update-ref', '-d', 'refs/heads/moving'])
  await expect(resolveRevision(repo, 'moving')).rejects.toMatchObject({ code: 'not_found' })
})

test('a branch that names no commit is damaged', async () => {
  const empty = await world.repository()
  await expect(resolveRevision(empty, 'HEAD')).rejects.toMatchObject({ code: 'not_found' })
  mkdirSync(join(empty.path, 'refs/heads/x'), { recursive: true })
  writeFileSync(join(empty.path, 'refs/heads/broken'), 'garbage\n')
  await expect(resolveRevision(empty, 'broken')).rejects.toMatchObject({ code: 'damaged' })
  rmSync(join(empty.path, 'refs/heads/broken'))
})

test('a commit keeps its own times, encoding, signature and full message', async () => {
  const tree = git(repo.path, ['mktree'], { input: '' })
  const raw = Buffer.concat([
    Buffer.from(
      `tree ${tree}\nparent ${ids[0]}\nauthor J\xfcrgen <j@example.com> 1632121572 +0530\ncommitter  Odd  <o@x> 1632121572 -0700\nencoding ISO-8859-1\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\n`,
      'latin1',
    ),
    Buffer.from('Gr\xfc\xdfe  \nsame paragraph\n\nbody\n', 'latin1'),
  ])
  const id = git(repo.path, ['hash-object', '-w', '-t', 'commit', '--stdin'], { input: raw })
  expect(await readCommit(repo, id)).toEqual({
    id,
    treeId: tree,
    parentIds: [ids[0]],
    author: {
      name: 'Jürgen',
      email: 'j@example.com',
      seconds: 1632121572,
      offset: 330,
      date: '2021-09-20T12:36:12.000+05:30',
    },
    committer: {
      name: 'Odd',
      email: 'o@x',
      seconds: 1632121572,
      offset: -420,
      date: '2021-09-20T00:06:12.000-07:00',
    },
    message: 'Grüße  \nsame paragraph\n\nbody\n',
    title: 'Grüße',
    signature: '-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----',
  })
})
