import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  type ContributorCache,
  readContributors,
  sortContributors,
} from '../../../src/git/history/contributors.ts'
import type { LineCounts, TallyState } from '../../../src/git/history/tally.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(() => world.close())

/** A cache that counts what is asked of git. */
function openCache() {
  const lines = new Map<string, LineCounts>()
  const totals = new Map<string, TallyState>()
  let counted = 0
  const cache: ContributorCache = {
    async readLines(ids) {
      return new Map(
        ids.flatMap((id) => {
          const found = lines.get(id)
          return found ? [[id, found] as const] : []
        }),
      )
    },
    async saveLines(some) {
      counted += some.size
      for (const [id, counts] of some) lines.set(id, counts)
    },
    listTips: async () => [...totals.keys()].reverse(),
    readTotals: async (tip) => totals.get(tip),
    async saveTotals(tip, state) {
      // As a database would keep it.
      totals.set(tip, JSON.parse(JSON.stringify(state)))
    },
  }
  return { cache, totals, counted: () => counted }
}

/** `email|commits|additions|deletions` of every author, sorted, by `git log --numstat`. */
function totalsOfGit(tip: string): string[] {
  const rows = new Map<string, [number, number, number]>()
  let email = ''
  const log = git(repo.path, ['log', '--no-merges', '--numstat', '--format=@%ae', tip])
  for (const line of log.split('\n').filter(Boolean)) {
    const row = rows.get(line.startsWith('@') ? line.slice(1) : email) ?? [0, 0, 0]
    if (line.startsWith('@')) {
      email = line.slice(1)
      row[0] += 1
    } else {
      const [added, deleted] = line.split('\t')
      row[1] += Number(added) || 0
      row[2] += Number(deleted) || 0
    }
    rows.set(email, row)
  }
  return [...rows].map(([key, row]) => `${key}|${row.join('|')}`).sort()
}

async function totalsOf(tip: string, cache: ContributorCache): Promise<string[]> {
  const all = await readContributors(repo, tip, cache)
  return all.map((c) => `${c.email}|${c.commits}|${c.additions}|${c.deletions}`).sort()
}

test('are counted as git counts them, without merges, and after a push only what is new', async () => {
  const by = (author: string, files: Record<string, string | null>, parents?: string[]) =>
    commitFiles(repo, { author, files, parents, ref: 'refs/heads/main' })
  by('Ana <ana@x.test>', { a: '1\n2\n3\n' }, [])
  const base = by('Bo <bo@x.test>', { a: '1\nX\n3\n', bin: '\0\u0001' })
  const side = by('Ana <ana@x.test>', { s: 's\n' }, [base])
  const main = by('Cy <cy@x.test>', { c: 'c\n' }, [base])
  const merge = by('Merger <merger@x.test>', { s: 's\n' }, [main, side])
  const moved = by('Ana B. <ana@x.test>', { a: null, 'to/a': '1\nX\n3\nmore\n' }, [merge])

  const { cache, counted } = openCache()
  expect(await totalsOf(merge, cache)).toEqual(totalsOfGit(merge))
  expect(counted()).toBe(4)
  expect(await totalsOf(moved, cache)).toEqual(totalsOfGit(moved))
  expect(counted()).toBe(5)
  expect(await totalsOf(side, cache)).toEqual(totalsOfGit(side))
  expect(await totalsOf(moved, cache)).toEqual(totalsOfGit(moved))
  expect(counted()).toBe(5)

  const names = (await readContributors(repo, moved, cache)).map((c) => `${c.name} ${c.email}`)
  expect(names).toContain('Ana B. ana@x.test')
  expect(names.join()).not.toContain('Merger')
})

test('the same totals come out whichever tip came first', async () => {
  const authors = ['A <a@x>', 'B <b@x>', 'C <A@x>']
  const tips: string[] = []
  for (let i = 0; i < 12; i += 1) {
    const author = authors[i % 3] ?? ''
    const parents = i === 0 ? [] : [tips[Math.max(0, i - 1 - (i % 4 === 0 ? 1 : 0))] ?? '']
    tips.push(
      commitFiles(repo, {
        author,
        files: { [`f${i % 5}`]: `${i}\n` },
        parents,
        ref: 'refs/heads/t',
      }),
    )
  }
  const { cache } = openCache()
  for (const tip of [...tips].reverse()) {
    expect(await totalsOf(tip, cache)).toEqual(totalsOfGit(tip))
  }
  const other = openCache()
  for (const tip of tips) expect(await totalsOf(tip, other.cache)).toEqual(totalsOfGit(tip))
})

test('are sorted as the caller asks', () => {
  const person = (name: string, email: string, commits: number, newest: number) => ({
    name,
    email,
    commits,
    newest,
    additions: 0,
    deletions: 0,
  })
  const people = [
    person('bo', 'z@x', 5, 10),
    person('Ana', 'Y@x', 9, 30),
    person('cy', 'a@x', 1, 20),
  ]
  const names = (...order: Parameters<typeof sortContributors>[1][]) =>
    sortContributors(people, ...order).map((each) => each.name)
  expect(names()).toEqual(['bo', 'cy', 'Ana'])
  expect(names({ sort: 'desc' })).toEqual(['Ana', 'cy', 'bo'])
  expect(names({ orderBy: 'name' })).toEqual(['Ana', 'bo', 'cy'])
  expect(names({ orderBy: 'email' })).toEqual(['cy', 'Ana', 'bo'])
  expect(names({ orderBy: 'commits', sort: 'desc' })).toEqual(['Ana', 'bo', 'cy'])
})
