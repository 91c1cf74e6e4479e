import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readBlob } from '../../src/git/objects/blob.ts'
import { setHead } from '../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld } from '../support/git.ts'
import { watchSyncs } from '../support/watch-syncs.ts'

let world: GitWorld
beforeAll(() => {
  world = openGitWorld()
})
afterAll(() => world.close())

test('a new repository is one that git accepts', async () => {
  const repo = await world.repository()
  expect(git(repo.path, ['rev-parse', '--is-bare-repository'])).toBe('true')
  expect(git(repo.path, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/main')
  expect(git(repo.path, ['fsck', '--strict'])).toBe('')
  expect(git(repo.path, ['config', 'transfer.fsckObjects'])).toBe('true')
})

test('a second repository of the same id is refused', async () => {
  await world.store.init(70, { defaultBranch: 'main' })
  await expect(world.store.init(70, { defaultBranch: 'main' })).rejects.toMatchObject({
    code: 'exists',
  })
  await world.store.remove(70)
  await world.store.remove(70)
  expect(await world.store.exists(70)).toBe(false)
})

test('a fork has the branches, tags and objects of its source and lives on without it', async () => {
  const source = await world.store.init(71, { defaultBranch: 'trunk' })
  const tree = git(source.path, ['mktree'], { input: '' })
  const commit = git(source.path, ['commit-tree', '-m', 'one', tree])
  git(source.path, ['update-ref', 'refs/heads/trunk', commit])
  git(source.path, ['update-ref', 'refs/merge-requests/1/head', commit])
  git(source.path, ['repack', '-adq'])
  const id = git(source.path, ['hash-object', '-w', '--stdin'], { input: 'loose' })
  const fork = await world.store.fork(71, 72)
  await world.store.remove(71)
  expect(git(fork.path, ['show-ref'])).toBe(`${commit} refs/heads/trunk`)
  expect(git(fork.path, ['fsck', '--strict', '--no-dangling'])).toBe('')
  expect(git(fork.path, ['symbolic-ref', 'HEAD'])).toBe('refs/heads/trunk')
  expect((await readBlob(fork, id)).content.toString()).toBe('loose')
})

test('what a fork links is on the disk before it has its place, folders of loose objects too', async () => {
  const source = await world.store.init(76, { defaultBranch: 'main' })
  const id = git(source.path, ['hash-object', '-w', '--stdin'], { input: 'loose' })
  const { synced, restore } = await watchSyncs()
  try {
    const { path } = await world.store.fork(76, 77)
    const within = synced
      .filter((each) => each.startsWith(`${path}.`))
      .map((each) => each.replace(/^.*\.new/, ''))
    const shard = `/objects/${id.slice(0, 2)}`
    expect(within).toEqual(expect.arrayContaining([shard, '/objects', '/packed-refs', '']))
    // A folder that was synced before something new was in it has to be synced again.
    expect(within.lastIndexOf('/objects')).toBeGreaterThan(within.indexOf(shard))
  } finally {
    restore()
  }
})

test('HEAD can be pointed at another branch, but not at what is no branch', async () => {
  const repo = await world.repository()
  await setHead(repo, 'next')
  expect(readFileSync(join(repo.path, 'HEAD'), 'utf8')).toBe('ref: refs/heads/next\n')
  await expect(setHead(repo, '../../x')).rejects.toMatchObject({ code: 'invalid' })
})

test('repositories of a project, its wiki, a group and a snippet of one number are four', async () => {
  const names = [
    73,
    { kind: 'project_wiki', id: 73 },
    { kind: 'group_wiki', id: 73 },
    { kind: 'snippet', id: 73 },
  ] as const
  const made = await Promise.all(
    names.map((name) => world.store.init(name, { defaultBranch: 'main' })),
  )
  expect(made.map((repo) => repo.key)).toEqual(['73', '73.wiki', '73.group-wiki', '73.snippet'])
  expect(made.map((repo) => repo.path.slice(world.folder.length))).toEqual([
    '/repositories/49/73.git',
    '/repositories/49/73.wiki.git',
    '/repositories/49/73.group-wiki.git',
    '/repositories/49/73.snippet.git',
  ])
  await world.store.remove(73)
  const there = await Promise.all(names.map((name) => world.store.exists(name)))
  expect(there).toEqual([false, true, true, true])
  const bad = { kind: 'snippet', id: -1 } as const
  await expect(world.store.init(bad, { defaultBranch: 'main' })).rejects.toMatchObject({
    code: 'invalid',
  })
})
