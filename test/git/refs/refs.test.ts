import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { buildRepository, type RepositoryName } from '../../../fixtures/repositories/build.ts'
import { compareVersions } from '../../../src/git/ref-files/ref-filter.ts'
import { listBranches } from '../../../src/git/refs/branches.ts'
import { findRef, listRefs, readHead } from '../../../src/git/refs/refs.ts'
import { findTag, listTags } from '../../../src/git/refs/tags.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { git, repoAt } from '../../support/git.ts'

const folder = mkdtempSync(join(tmpdir(), 'gitstead-refs-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let built = 0
async function fixture(name: RepositoryName): Promise<Repo> {
  built += 1
  return repoAt(await buildRepository(name, join(folder, `${built}.git`)))
}

function oracle(repo: Repo, ...args: string[]): string[] {
  return git(repo.path, ['for-each-ref', '--format=%(refname) %(objectname)', ...args])
    .split('\n')
    .filter(Boolean)
}

function words(refs: readonly { name: string; id: string }[]): string[] {
  return refs.map((ref) => `${ref.name} ${ref.id}`)
}

test.each(['basic', 'merges', 'many-branches', 'odd-names', 'empty'] as const)(
  'the refs of %s are what git lists, loose, packed and mixed',
  async (name) => {
    const repo = await fixture(name)
    const check = async () => {
      expect(words(await listRefs(repo, { prefix: 'refs/' }))).toEqual(oracle(repo))
      expect(words(await listRefs(repo, { prefix: 'refs/tags/' }))).toEqual(
        oracle(repo, 'refs/tags/'),
      )
    }
    await check()
    git(repo.path, ['pack-refs', '--all'])
    await check()
    if (name === 'empty') return
    for (const branch of ['a-b', 'a/b', 'zz/ü', 'a/c/d']) git(repo.path, ['branch', branch, 'HEAD'])
    await check()
    git(repo.path, ['branch', '-D', 'a/b'])
    git(repo.path, ['symbolic-ref', 'refs/heads/alias', 'refs/heads/a-b'])
    await check()
    git(repo.path, ['pack-refs', '--all', '--prune'])
    git(repo.path, ['update-ref', '-d', 'refs/heads/a-b'])
    await check()
  },
)

test('HEAD is known before and after the first commit', async () => {
  const empty = await fixture('empty')
  expect(await readHead(empty)).toEqual({ ref: git(empty.path, ['symbolic-ref', 'HEAD']) })
  const repo = await fixture('basic')
  expect(await readHead(repo)).toEqual({
    ref: git(repo.path, ['symbolic-ref', 'HEAD']),
    id: git(repo.path, ['rev-parse', 'HEAD']),
  })
  git(repo.path, ['update-ref', '--no-deref', 'HEAD', 'HEAD~1'])
  expect(await readHead(repo)).toEqual({ id: git(repo.path, ['rev-parse', 'HEAD']) })
})

test('a ref is found by its full name only, and only where it is one', async () => {
  const repo = await fixture('basic')
  const { ref = '', id = '' } = await readHead(repo)
  expect(await findRef(repo, ref)).toEqual({ name: ref, id })
  expect(await findRef(repo, 'refs/heads/none')).toBeUndefined()
  for (const name of ['../config', 'refs/../config', 'config', 'refs/heads/a..b']) {
    await expect(findRef(repo, name)).rejects.toMatchObject({ code: 'invalid' })
  }
})

test('branches can be searched, sorted and paged', async () => {
  const repo = await fixture('many-branches')
  const names = async (options: Parameters<typeof listBranches>[1]) =>
    (await listBranches(repo, options)).items.map((branch) => branch.name)
  const all = oracle(repo, 'refs/heads/').map((line) => line.split(' ')[0]!.slice(11))
  expect(await names({})).toEqual(all)
  expect(await names({ sort: 'name_desc' })).toEqual(all.toReversed())
  const part = all[3]!.slice(1, 4)
  expect(await names({ search: part.toUpperCase() })).toEqual(all.filter((n) => n.includes(part)))
  expect(await names({ search: `^${all[0]!.slice(0, 2)}` })).toEqual(
    all.filter((n) => n.startsWith(all[0]!.slice(0, 2))),
  )
  expect(await names({ search: `^${all[5]}$` })).toEqual([all[5]])
  expect(await names({ regex: '[13]$' })).toEqual(all.filter((n) => /[13]$/.test(n)))
  await expect(names({ regex: '(' })).rejects.toMatchObject({ code: 'invalid' })
  expect(await names({ after: all[7], limit: 5 })).toEqual(all.slice(8, 13))
  expect(await names({ offset: 2, limit: 3 })).toEqual(all.slice(2, 5))
  const byDate = git(repo.path, [
    'for-each-ref',
    '--sort=refname',
    '--sort=-committerdate',
    '--format=%(refname:lstrip=2)',
    'refs/heads/',
  ])
  expect(await names({ sort: 'updated_desc' })).toEqual(byDate.split('\n'))
})

test('tags are shown as annotated or lightweight, in the order asked for', async () => {
  const repo = await fixture('merges')
  const dated = (day: number) => ({ env: { GIT_COMMITTER_DATE: `170000${day}000 +0100` } })
  git(repo.path, ['tag', '-a', '-m', 'first\n\nbody', 'v1.10.0', 'HEAD'], dated(1))
  git(repo.path, ['tag', 'v1.9.0', 'HEAD~1'])
  git(repo.path, ['tag', '-a', '-m', 'tag of a tag', 'v1.10.0-rc1', 'v1.10.0'], dated(3))
  git(repo.path, ['tag', 'tree', 'HEAD^{tree}'])
  const names = async (options: Parameters<typeof listTags>[1]) =>
    (await listTags(repo, { search: '^v1', ...options })).items.map((tag) => tag.name)
  expect(await names({ orderBy: 'version' })).toEqual(['v1.10.0', 'v1.10.0-rc1', 'v1.9.0'])
  expect(await names({ orderBy: 'name', sort: 'asc' })).toEqual([
    'v1.10.0',
    'v1.10.0-rc1',
    'v1.9.0',
  ])
  expect(await names({})).toEqual(
    git(repo.path, [
      'for-each-ref',
      '--sort=-creatordate',
      '--format=%(refname:lstrip=2)',
      'refs/tags/v1*',
    ]).split('\n'),
  )
  const annotated = await findTag(repo, 'v1.10.0-rc1')
  expect(annotated).toMatchObject({
    name: 'v1.10.0-rc1',
    id: git(repo.path, ['rev-parse', 'v1.10.0-rc1']),
    tag: { message: 'tag of a tag\n', targetType: 'tag', tagger: { name: 'Carl Committer' } },
    commit: { id: git(repo.path, ['rev-parse', 'HEAD']) },
  })
  expect((await findTag(repo, 'v1.9.0'))?.tag).toBeUndefined()
  expect((await findTag(repo, 'tree'))?.commit).toBeUndefined()
  expect(await findTag(repo, 'none')).toBeUndefined()
  expect(await findTag(repo, '../../config')).toBeUndefined()
})

test('versions are compared by their numbers', () => {
  const sorted = ['1.0-rc1', '1.0', '1.0.1', '1.2', '1.10', '2', '10']
  expect(sorted.toReversed().toSorted(compareVersions)).toEqual(sorted)
})
