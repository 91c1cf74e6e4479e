import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mergeTexts } from '../../../src/git/merge/text-merge.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles, listing } from '../../support/fast-import.ts'
import { type GitWorld, openGitWorld } from '../../support/git.ts'
import { runGitClient } from '../../support/git-client.ts'
import { runs } from '../../support/runs.ts'

/*
 * Texts joined line by line against git's own merge, which is asked about a hundred of them at a time: every file of the
 * three commits is a case.
 */
let world: GitWorld
let repo: Repo

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(() => world.close())

type Case = readonly [base: string, ours: string, theirs: string]

const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')

/** Lines put in, taken out or changed at some places of a text. */
const edit = (letters: readonly string[]) =>
  fc.array(
    fc.record({
      at: fc.nat(40),
      remove: fc.nat(3),
      insert: fc.array(fc.constantFrom(...letters), { maxLength: 3 }),
    }),
    { maxLength: 4 },
  )

function applied(
  lines: readonly string[],
  edits: readonly { readonly at: number; readonly remove: number; readonly insert: string[] }[],
): string[] {
  const edited = [...lines]
  for (const { at, remove, insert } of edits) {
    edited.splice(lines.length === 0 ? 0 : at % (lines.length + 1), remove, ...insert)
  }
  return edited
}

/** Few different lines make many ways to line them up; many make texts as people write them. */
function caseOf(letters: readonly string[], length: number): fc.Arbitrary<Case> {
  const lines = fc.array(fc.constantFrom(...letters), { maxLength: length })
  const end = fc.boolean()
  return fc
    .tuple(lines, edit(letters), edit(letters), end, end, end)
    .map(([base, left, right, ...whole]) => {
      const texts = [base, applied(base, left), applied(base, right)].map(text)
      const [one = '', two = '', three = ''] = texts.map((each, i) =>
        whole[i] ? each : each.slice(0, -1),
      )
      return [one, two, three] as const
    })
}

function blobId(content: Buffer): string {
  return createHash('sha1').update(`blob ${content.length}\0`).update(content).digest('hex')
}

const alphabet = Array.from({ length: 26 }, (_, i) => String.fromCharCode(97 + i))
const anyCase = fc.oneof(
  caseOf(['a', 'b'], 12),
  caseOf(['a', 'b', '', '}'], 25),
  caseOf(alphabet, 30),
  caseOf([...alphabet, '', ' }', '\r'], 60),
  // More equal lines than git's histogram counts.
  caseOf(['a', 'a', 'a', 'b'], 300),
  caseOf(['\0', 'a', 'b'], 8),
)

/** What git makes of the cases: the tree, and the files that conflict. */
async function judge(
  cases: readonly Case[],
): Promise<{ ids: Map<string, string>; conflicts: Set<string> }> {
  const side = (n: 0 | 1 | 2) => Object.fromEntries(cases.map((one, i) => [`f${i}`, one[n]]))
  const ref = 'refs/heads/scratch'
  const base = commitFiles(repo, { parents: [], files: side(0), ref })
  const ours = commitFiles(repo, { parents: [base], files: side(1), ref })
  const theirs = commitFiles(repo, { parents: [base], files: side(2), ref })
  const args = ['merge-tree', '--write-tree', '--name-only', '-z', '--no-messages']
  const { stdout } = await runGitClient(repo.path, [...args, ours, theirs])
  const [tree = '', ...conflicts] = stdout.split('\0').filter(Boolean)
  const ids = listing(repo, tree).map((line) => line.split(/[ \t]/))
  return {
    ids: new Map(ids.map(([, , id = '', path = '']) => [path, id])),
    conflicts: new Set(conflicts),
  }
}

function merge([base, ours, theirs]: Case): string {
  const merged = mergeTexts(Buffer.from(base), Buffer.from(ours), Buffer.from(theirs))
  return typeof merged === 'string' ? merged : blobId(merged)
}

test('texts come out to the byte as git merges them, and conflict where they do for git', async () => {
  const counts = { cases: 0, unclear: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(anyCase, { minLength: 100, maxLength: 100 }), async (all) => {
      // Where only one side changed there is nothing to join.
      const cases = all.filter((texts) => new Set(texts).size === 3)
      const { ids, conflicts } = await judge(cases)
      for (const [i, one] of cases.entries()) {
        const merged = merge(one)
        counts.cases += 1
        const wanted = conflicts.has(`f${i}`) ? 'conflict' : ids.get(`f${i}`)
        if (merged === 'unclear') counts.unclear += 1
        else expect([one, merged]).toEqual([one, wanted])
      }
    }),
    runs(8, 21),
  )
  expect(counts.unclear).toBeLessThan(counts.cases / 5)
}, 120_000)
