import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { GitError } from '../../../src/git/error.ts'
import { authorTest } from '../../../src/git/history/author-pattern.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type GitWorld, git, openGitWorld } from '../../support/git.ts'

const authors = [
  ...['a <a@b>', 'ab <x@y>', 'aab <*@+>', 'b*c <q?@(z)>', 'a.b <a|b@c>', 'A-B <A@B>', 'a\\b <n@m>'],
  ...['[x] <{1}@y>', '^a$ <c@d>', 'a b <e@f>', 'bb <bb@bb>', 'é <é@é>'],
]

let world: GitWorld
let repo: Repo
beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const lines = authors.map(
    (author, i) =>
      `commit refs/heads/main\nauthor ${author} ${1_600_000_000 + i} +0000\n` +
      `committer C <c@d> ${1_600_000_000 + i} +0000\ndata 0\n\n`,
  )
  git(repo.path, ['fast-import', '--quiet'], { input: lines.join('') })
})
afterAll(() => world.close())

/** Which authors git finds; undefined where it does not understand the pattern. */
function judge(pattern: string): string[] | undefined {
  try {
    const args = ['log', '--reverse', '--format=%an <%ae>', `--author=${pattern}`, 'main']
    return git(repo.path, args, { env: { LC_ALL: 'C.UTF-8' } })
      .split('\n')
      .filter(Boolean)
  } catch {
    return undefined
  }
}

async function find(pattern: string): Promise<string[] | undefined> {
  try {
    const fits = await authorTest(pattern)(authors)
    return authors.filter((_, at) => fits[at])
  } catch (error) {
    expect(error).toBeInstanceOf(GitError)
    expect(error).toMatchObject({ code: 'invalid' })
    return undefined
  }
}

describe('a pattern for authors finds whom git finds', () => {
  test('whatever it is made of', async () => {
    const piece = fc.constantFrom(
      ...[
        'a',
        'b',
        'é',
        '.',
        '*',
        '^',
        '$',
        '\\.',
        '\\*',
        '\\(',
        '\\)',
        '\\|',
        '\\+',
        '\\?',
        '+',
        '?',
      ],
      ...['(', ')', '|', '{', '}', '[ab]', '[^a]', '[]x]', '[a-c]', '[[:upper:]]', '@', '<', ' '],
    )
    const patterns = fc
      .sample(fc.array(piece, { minLength: 1, maxLength: 4 }), { numRuns: 45, seed: 19 })
      .map((pieces) => pieces.join(''))
    let understood = 0
    for (const pattern of new Set(patterns)) {
      const found = await find(pattern)
      const expected = judge(pattern)
      // Some that make little sense, such as a repetition of nothing, are refused here and not by git.
      if (found === undefined) continue
      expect([pattern, found]).toEqual([pattern, expected])
      understood += 1
    }
    expect(understood).toBeGreaterThan(20)
  })

  test.each([
    'a',
    'A-B',
    '.',
    '@',
    '<a@b>$',
    '^a',
    'a.b',
    'a\\.b',
    'b\\*c',
    '[[]x',
    'é',
    '^\\^a',
    'a\\\\b',
  ])('%j', async (pattern) => {
    const found = await find(pattern)
    expect(found).toEqual(judge(pattern))
    expect(found?.length).toBeGreaterThan(0)
  })
})
