import fc from 'fast-check'
import { git } from './git.ts'

/** A commit of a made-up history: parents are earlier commits, by number. */
export interface MadeCommit {
  readonly parents: readonly number[]
  readonly seconds: number
  readonly author: number
  /** Path number to content number; −1 removes the file. */
  readonly changes: readonly (readonly [path: number, content: number])[]
}

export const madePaths = ['a', 'b/c', 'b/d/e', 'b/d/f', 'ü/x y', ' /z']

const authors = [
  'Ana <ana@example.com>',
  'Bob B. <bob@example.com>',
  'Ümit <umit@example.com>',
  'a+b (c) <d|e@example.com>',
]

/** Histories with merges of up to four parents, several roots, equal dates and clocks that go wrong. */
export const histories: fc.Arbitrary<MadeCommit[]> = fc
  .array(
    fc.record({
      parents: fc.array(fc.nat(), { maxLength: 4 }),
      step: fc.oneof(
        { weight: 6, arbitrary: fc.nat(3) },
        { weight: 1, arbitrary: fc.integer({ min: -8, max: 40 }) },
      ),
      author: fc.nat(authors.length - 1),
      changes: fc.array(fc.tuple(fc.nat(madePaths.length - 1), fc.integer({ min: -1, max: 3 })), {
        maxLength: 3,
      }),
    }),
    { minLength: 1, maxLength: 40 },
  )
  .map((raw) => {
    let seconds = 1_600_000_000
    return raw.map(({ parents, step, author, changes }, i) => {
      seconds += step
      // Mostly near relatives, as in real histories, so that lines of work meet again.
      const near = parents.map((n) => Math.max(i - 1 - (n % 5), 0))
      const wanted = near.length === 0 && i % 7 !== 0 ? [Math.max(i - 1, 0)] : near
      return { parents: i === 0 ? [] : [...new Set(wanted)], seconds, author, changes }
    })
  })

/** Writes a history into a repository: `main` is its last commit, `c0`, `c1`… are tags. Gives the ids. */
export function writeHistory(repository: string, commits: readonly MadeCommit[]): string[] {
  const lines = commits.flatMap((commit, i) => {
    const [first, ...others] = commit.parents
    return [
      `commit refs/tags/c${i}`,
      `mark :${i + 1}`,
      `author ${authors[commit.author]} ${commit.seconds - 5} +0100`,
      `committer Carl <carl@example.com> ${commit.seconds} -0330`,
      data(`commit ${i}\n`),
      ...(first === undefined ? [] : [`from :${first + 1}`]),
      ...others.map((parent) => `merge :${parent + 1}`),
      ...commit.changes.flatMap(([path, content]) =>
        content < 0
          ? [`D ${madePaths[path]}`]
          : [`M 100644 inline ${madePaths[path]}`, data(`content ${content}\n`)],
      ),
      '',
    ]
  })
  git(repository, ['fast-import', '--quiet', '--force'], {
    input: `${lines.join('\n')}\nreset refs/heads/main\nfrom :${commits.length}\n`,
  })
  return git(repository, ['rev-parse', ...commits.map((_, i) => `refs/tags/c${i}`)]).split('\n')
}

function data(text: string): string {
  return `data ${Buffer.byteLength(text)}\n${text}`
}
