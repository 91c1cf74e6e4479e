import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GitError } from '../../../src/git/error.ts'
import { resolveRevision } from '../../../src/git/objects/revision.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld, repoAt } from '../../support/git.ts'

/** So many objects that starts of four digits are often those of several. */
const commits = 500

let world: GitWorld
let repo: Repo
let ids: readonly { readonly id: string; readonly type: string }[]

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const person = 'Ana <ana@example.com>'
  const lines = Array.from({ length: commits }, (_, i) => [
    'commit refs/heads/main',
    `author ${person} ${1_600_000_000 + i} +0000`,
    `committer ${person} ${1_600_000_000 + i} +0000`,
    `data ${String(i).length}\n${i}`,
    `M 100644 inline file`,
    `data ${String(i).length}\n${i}\n`,
  ]).flat()
  git(repo.path, ['fast-import', '--quiet'], { input: `${lines.join('\n')}\n` })
  git(repo.path, ['tag', '-a', '-m', 'one', 'one', 'main~3'])
  git(repo.path, ['tag', '-a', '-m', 'two', 'two', 'one'])
  git(repo.path, ['tag', '-a', '-m', 'of a tree', 'tree', 'main^{tree}'])
  ids = git(repo.path, ['cat-file', '--batch-all-objects', '--batch-check'])
    .split('\n')
    .map((line) => line.split(' '))
    .map(([id = '', type = '']) => ({ id, type }))
})
afterAll(() => world.close())

/**
 * What git makes of revisions as commits: an id, `ambiguous` or `missing`; several objects of which none is a commit are
 * ambiguous, as for `git rev-parse`.
 */
function judge(at: Repo, revisions: readonly string[]): Map<string, string> {
  const input = revisions.map((each) => `${each}^{commit}\n`).join('')
  const lines = git(at.path, ['cat-file', '--batch-check=%(objectname)'], { input }).split('\n')
  return new Map(
    revisions.map((each, i) => {
      const line = lines[i] ?? ''
      if (/^[0-9a-f]{40}$/.test(line)) return [each, line]
      const several = ids.filter(({ id }) => id.startsWith(each)).length > 1
      return [each, several ? 'ambiguous' : (line.split(' ').at(-1) ?? '')]
    }),
  )
}

/** The same by the engine. */
async function resolve(at: Repo, revision: string): Promise<string> {
  try {
    return (await resolveRevision(at, revision)).commitId
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    return error.code === 'not_found' ? 'missing' : error.code
  }
}

async function compare(at: Repo, revisions: readonly string[]): Promise<Set<string>> {
  const judged = judge(at, revisions)
  const outcomes = new Set<string>()
  for (const [revision, expected] of judged) {
    expect([revision, await resolve(at, revision)]).toEqual([revision, expected])
    outcomes.add(expected.length === 40 ? 'found' : expected)
  }
  return outcomes
}

/** Starts of four digits that several objects share, and a few that one has for itself. */
function starts(digits: number): string[] {
  const count = new Map<string, number>()
  for (const { id } of ids) {
    const start = id.slice(0, digits)
    count.set(start, (count.get(start) ?? 0) + 1)
  }
  const shared = [...count].filter(([, n]) => n > 1).map(([start]) => start)
  const alone = [...count].filter(([, n]) => n === 1).map(([start]) => start)
  return [...shared.slice(0, 14), ...alone.slice(0, 14)]
}

describe('the start of an id', () => {
  test('means the commit that git means, is ambiguous where git says so, or nothing', async () => {
    const outcomes = await compare(repo, starts(4))
    expect(outcomes).toContain('found')
    expect(outcomes).toContain('missing')
  })

  test('of two commits is ambiguous', async () => {
    const seen = new Map<string, string>()
    const pairs = ids.flatMap(({ id, type }) => {
      if (type !== 'commit') return []
      const other = seen.get(id.slice(0, 4))
      seen.set(id.slice(0, 4), id)
      return other === undefined ? [] : [id.slice(0, 4)]
    })
    for (const start of pairs) expect(await resolve(repo, start)).toBe('ambiguous')
    expect(pairs.length).toBeGreaterThan(0)
  })

  test('may have any length up to a whole id', async () => {
    const { id = '' } = ids.find(({ type }) => type === 'commit') ?? {}
    for (const length of [8, 12, 20, 39, 40]) {
      expect(await resolve(repo, id.slice(0, length))).toBe(id)
    }
    expect(await resolve(repo, id.slice(0, 3))).toBe('missing')
    expect(await resolve(repo, `${id}0`)).toBe('missing')
    expect(await resolve(repo, `${id.slice(0, 39)}g`)).toBe('missing')
  })

  test('may be followed by steps', async () => {
    const tip = git(repo.path, ['rev-parse', 'main']).slice(0, 12)
    await compare(repo, [`${tip}~1`, `${tip}^`, `${tip}~3^1`, `${tip}^2`, `${tip}~9999`])
  })

  test('of a tag means its commit, also through a tag of a tag; of a tree or file it means none', async () => {
    const tagged = git(repo.path, ['rev-parse', 'main~3'])
    for (const name of ['one', 'two']) {
      const tag = git(repo.path, ['rev-parse', name])
      expect(await resolve(repo, tag.slice(0, 14))).toBe(tagged)
      expect((await resolveRevision(repo, tag)).objectId).toBe(tag)
    }
    const others = [
      git(repo.path, ['rev-parse', 'tree']),
      git(repo.path, ['rev-parse', 'main:file']),
    ]
    for (const id of others) {
      expect(await resolve(repo, id.slice(0, 14))).toBe('missing')
      expect(await resolve(repo, id)).toBe('missing')
    }
  })

  test('gives way to a branch or tag of that name, but a whole id never does', async () => {
    const first = ids.filter(({ type }) => type === 'commit')[0]?.id ?? ''
    const short = first.slice(0, 10)
    const other = git(repo.path, ['rev-parse', 'main~7'])
    for (const name of [short, first]) git(repo.path, ['update-ref', `refs/heads/${name}`, other])
    expect(await resolve(repo, short)).toBe(other)
    expect(await resolve(repo, first)).toBe(first)
    expect((await resolveRevision(repo, first, { kind: 'branch' })).commitId).toBe(other)
    await compare(repo, [short, first, `heads/${first}`, `refs/heads/${short}`])
    git(repo.path, ['update-ref', `refs/tags/${short}`, `${other}~1`])
    // A tag comes before a branch.
    await compare(repo, [short])
    for (const kind of ['heads', 'tags'])
      git(repo.path, ['update-ref', '-d', `refs/${kind}/${short}`])
    git(repo.path, ['update-ref', '-d', `refs/heads/${first}`])
    expect(await resolve(repo, short)).toBe(first)
  })

  test('is found in packs and among borrowed objects as among loose ones', async () => {
    git(repo.path, ['repack', '-adq'])
    const loose = git(repo.path, ['commit-tree', '-m', 'loose', 'main^{tree}'])
    await compare(repo, [...starts(4), loose.slice(0, 9)])
    const borrower = `${world.folder}/borrower.git`
    git(world.folder, ['clone', '-q', '--bare', '--shared', repo.path, borrower])
    await compare(repoAt(borrower), [...starts(4).slice(0, 10), loose.slice(0, 9)])
  })
})
