import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listBranches } from '../../../src/git/refs/branches.ts'
import { findRef, listRefs, readHead, readRefValues } from '../../../src/git/refs/refs.ts'
import { listTags } from '../../../src/git/refs/tags.ts'
import { updateRefs } from '../../../src/git/refs/update-refs.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { noObject } from '../../../src/git/types.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
beforeAll(() => {
  world = openGitWorld()
})
afterAll(() => world.close())

/** Some commits, the oldest first, none of which a ref has. */
function commits(repo: Repo, count: number): string[] {
  const tree = git(repo.path, ['mktree'], { input: '' })
  const ids: string[] = []
  for (let i = 0; i < count; i += 1) {
    const parents = ids.slice(-1).flatMap((id) => ['-p', id])
    const env = { GIT_COMMITTER_DATE: `${1_600_000_000 + i * 60} +0000` }
    ids.push(git(repo.path, ['commit-tree', '-m', `c${i}`, ...parents, tree], { env }))
  }
  return ids
}

const names = ['main', 'a', 'a/b', 'a/b/c', 'a-b', 'ü', 'x/y', 'x/z', '𝒳', 'release/1.0']
const branch = fc.constantFrom(...names).map((name) => `refs/heads/${name}`)

type Step =
  | { readonly kind: 'set'; readonly name: string; readonly to: number }
  | { readonly kind: 'delete'; readonly name: string }
  | { readonly kind: 'link'; readonly name: string; readonly to: string }
  | { readonly kind: 'write'; readonly name: string; readonly text: string }
  | { readonly kind: 'pack' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('set' as const), name: branch, to: fc.nat(4) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), name: branch }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('link' as const), name: branch, to: branch }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('write' as const),
      name: fc.constantFrom('refs/heads/broken', 'refs/heads/x/y.lock', 'refs/heads/empty'),
      text: fc.constantFrom('garbage\n', '', '1234\n'),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'pack' as const }) },
)

/** Does it with git, or by hand; what git refuses is not done. */
function act(repo: Repo, ids: readonly string[], one: Step): void {
  try {
    if (one.kind === 'set')
      git(repo.path, ['update-ref', '--no-deref', one.name, ids[one.to] ?? ''])
    else if (one.kind === 'delete') git(repo.path, ['update-ref', '--no-deref', '-d', one.name])
    else if (one.kind === 'link') git(repo.path, ['symbolic-ref', one.name, one.to])
    else if (one.kind === 'pack') git(repo.path, ['pack-refs', '--all', '--prune'])
    else {
      mkdirSync(dirname(join(repo.path, one.name)), { recursive: true })
      writeFileSync(join(repo.path, one.name), one.text)
    }
  } catch {
    // A name in the way of another, or a lock.
  }
}

function oracle(repo: Repo, prefix: string): string[] {
  return git(repo.path, ['for-each-ref', '--format=%(refname) %(objectname)', prefix])
    .split('\n')
    .filter(Boolean)
}

describe('refs read by one reader all the time', () => {
  test.each([1, 2, 3])(
    'are those of git after anything that happens to them (%i)',
    async (seed) => {
      const repo = await world.repository()
      const ids = commits(repo, 5)
      for (const one of fc.sample(step, { numRuns: 22, seed })) {
        act(repo, ids, one)
        const listed = await listRefs(repo, { prefix: 'refs/heads/', withoutBroken: true })
        const expected = oracle(repo, 'refs/heads/')
        expect([one, listed.map(({ name, id }) => `${name} ${id}`)]).toEqual([one, expected])
        const known = new Map(expected.map((line) => line.split(' ') as [string, string]))
        const asked = names.map((name) => `refs/heads/${name}`)
        const values = await readRefValues(repo, asked)
        expect([one, [...values].sort()]).toEqual([
          one,
          [...known].filter(([name]) => asked.includes(name)).sort(),
        ])
      }
      rmSync(join(repo.path, 'refs/heads/x/y.lock'), { force: true })
    },
  )

  test('come by name, as many as are asked for', async () => {
    const repo = await world.repository()
    const [id = ''] = commits(repo, 1)
    const lawful = names.filter((name) => !name.startsWith('a/'))
    const all = lawful.map((name) => ({ name: `refs/heads/${name}`, oldId: noObject, newId: id }))
    await updateRefs(repo, all)
    const expected = oracle(repo, 'refs/').map((line) => line.split(' ')[0])
    for (let limit = 0; limit <= expected.length + 1; limit += 1) {
      const found = await listRefs(repo, { prefix: 'refs/', limit })
      expect(found.map(({ name }) => name)).toEqual(expected.slice(0, limit))
    }
    expect(await listRefs(repo, { prefix: 'refs/tags/' })).toEqual([])
  })

  test('that point at one another without end are none', async () => {
    const repo = await world.repository()
    const [id = ''] = commits(repo, 1)
    const chain = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6']
    await updateRefs(repo, [{ name: 'refs/heads/c6', oldId: noObject, newId: id }])
    for (const [i, name] of chain.slice(0, -1).entries()) {
      writeFileSync(join(repo.path, 'refs/heads', name), `ref: refs/heads/${chain[i + 1]}\n`)
    }
    writeFileSync(join(repo.path, 'refs/heads/self'), 'ref: refs/heads/self\n')
    writeFileSync(join(repo.path, 'refs/heads/out'), 'ref: ../../../etc/passwd\n')
    const found = async (name: string) => (await findRef(repo, `refs/heads/${name}`))?.id
    expect(await found('c5')).toBe(id)
    expect(await found('c2')).toBe(id)
    // git follows five as well.
    expect(await found('c0')).toBeUndefined()
    expect(await found('self')).toBeUndefined()
    expect(await found('out')).toBeUndefined()
    expect(await findRef(repo, 'refs/heads/none')).toBeUndefined()
    await expect(findRef(repo, 'refs/../HEAD')).rejects.toMatchObject({ code: 'invalid' })
    writeFileSync(join(repo.path, 'HEAD'), 'ref: refs/heads/c3\n')
    expect(await readHead(repo)).toEqual({ ref: 'refs/heads/c6', id })
    writeFileSync(join(repo.path, 'HEAD'), `${id}\n`)
    expect(await readHead(repo)).toEqual({ id })
    writeFileSync(join(repo.path, 'HEAD'), 'ref: refs/heads/main\n')
    expect(await readHead(repo)).toEqual({ ref: 'refs/heads/main' })
  })
})

describe('ten thousand branches', () => {
  let repo: Repo
  let ids: string[]
  const count = 10_000
  const nameOf = (i: number) => `many/b${String(i).padStart(5, '0')}`
  beforeAll(async () => {
    repo = await world.repository()
    ids = commits(repo, 7)
    const lines = Array.from({ length: count }, (_, i) => `${ids[i % 7]} refs/heads/${nameOf(i)}\n`)
    writeFileSync(join(repo.path, 'packed-refs'), `# pack-refs with: sorted \n${lines.join('')}`)
    git(repo.path, ['update-ref', 'refs/heads/many/b00005', ids[0] ?? ''])
    git(repo.path, ['update-ref', 'refs/heads/new', ids[6] ?? ''])
  })

  test('come in pages with their number, loose ones before packed ones of their name', async () => {
    const first = await listBranches(repo, { limit: 20 })
    expect(first).toMatchObject({ total: count + 1, more: true })
    expect(first.items.map(({ name }) => name)).toEqual(
      Array.from({ length: 20 }, (_, i) => nameOf(i)),
    )
    expect(first.items[5]?.commit.id).toBe(ids[0])
    const last = await listBranches(repo, { offset: count - 1, limit: 20 })
    expect(last).toMatchObject({ total: count + 1, more: false })
    expect(last.items.map(({ name }) => name)).toEqual([nameOf(count - 1), 'new'])
    const after = await listBranches(repo, { after: nameOf(4_999), limit: 2 })
    expect(after.items.map(({ name }) => name)).toEqual([nameOf(5_000), nameOf(5_001)])
  })

  test('can be searched, and sorted by the dates of their commits', async () => {
    const found = await listBranches(repo, { search: '^many/b0999', limit: 3 })
    expect(found).toMatchObject({ total: 10, more: true })
    const expression = await listBranches(repo, { regex: 'b(00|99)000$' })
    expect(expression.items.map(({ name }) => name)).toEqual([nameOf(0)])
    const newest = await listBranches(repo, { sort: 'updated_desc', limit: 3 })
    const sorted = ['--sort=refname', '--sort=-committerdate', '--count=3']
    const args = ['for-each-ref', ...sorted, '--format=%(refname:lstrip=2)', 'refs/heads']
    expect(newest.items.map(({ name }) => name)).toEqual(git(repo.path, args).split('\n'))
    const oldest = await listBranches(repo, { sort: 'updated_asc', limit: 1 })
    expect(oldest.items[0]?.commit.id).toBe(ids[0])
    const reversed = await listBranches(repo, { sort: 'name_desc', limit: 2 })
    expect(reversed.items.map(({ name }) => name)).toEqual(['new', nameOf(count - 1)])
  })

  test('hold up no single one, nor a move of one', async () => {
    expect(await findRef(repo, `refs/heads/${nameOf(7_777)}`)).toMatchObject({ id: ids[7_777 % 7] })
    const name = `refs/heads/${nameOf(9_000)}`
    const oldId = ids[9_000 % 7] ?? ''
    await updateRefs(repo, [{ name, oldId, newId: ids[1] ?? '' }])
    expect(await findRef(repo, name)).toMatchObject({ id: ids[1] })
    await updateRefs(repo, [{ name, oldId: ids[1] ?? '', newId: noObject }])
    expect(await findRef(repo, name)).toBeUndefined()
    expect((await listBranches(repo, { limit: 1 })).total).toBe(count)
  })
})

test('tags of commits, trees, files and tags are read with their targets, in any order', async () => {
  const repo = await world.repository()
  const [one = '', two = ''] = commits(repo, 2)
  const tree = git(repo.path, ['rev-parse', `${one}^{tree}`])
  const blob = git(repo.path, ['hash-object', '-w', '--stdin'], { input: 'x' })
  const date = (n: number) => ({ env: { GIT_COMMITTER_DATE: `${1_700_000_000 + n} +0000` } })
  git(repo.path, ['tag', 'light', one])
  git(repo.path, ['tag', '-a', '-m', 'A', 'annotated', two], date(3))
  git(repo.path, ['tag', '-a', '-m', 'N', 'nested', 'annotated'], date(1))
  git(repo.path, ['tag', 'light-of-nested', 'nested'])
  git(repo.path, ['tag', '-a', '-m', 'T', 'tree', tree], date(2))
  git(repo.path, ['tag', 'light-tree', tree])
  git(repo.path, ['tag', 'blob', blob])
  const { items, total } = await listTags(repo, { orderBy: 'name', sort: 'asc' })
  expect(total).toBe(7)
  expect(items.map(({ name, commit, tag }) => [name, commit?.id, tag?.name])).toEqual([
    ['annotated', two, 'annotated'],
    ['blob', undefined, undefined],
    ['light', one, undefined],
    ['light-of-nested', two, 'nested'],
    ['light-tree', undefined, undefined],
    ['nested', two, 'nested'],
    ['tree', undefined, 'tree'],
  ])
  const updated = await listTags(repo, { orderBy: 'updated', sort: 'desc', limit: 3 })
  expect(updated.items.map(({ name }) => name)).toEqual(['annotated', 'tree', 'light-of-nested'])
  expect(updated.more).toBe(true)
})
