import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { readCommitStats } from '../../../src/git/diff/commit-stats.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { type CommitAction, writeCommit } from '../../../src/git/write/write-commit.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, openGitWorld } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

const author = { name: 'Ana', email: 'ana@x.test', date: '2021-09-20T09:06:12.000Z' }

let world: GitWorld
let repo: Repo
beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(() => world.close())

async function written(start: string, actions: readonly CommitAction[]) {
  const made = await writeCommit(repo, {
    parentIds: [start],
    actions,
    author,
    committer: author,
    message: 'm',
  })
  const [byGit] = await readCommitStats(repo, [made.id])
  return { counted: made.stats, byGit }
}

const oldFiles = { a: 'one\ntwo\nthree\n', b: 'same\n\nsame\n\nsame\n', 'c/d': '\0binary\n', e: '' }
const line = fc.constantFrom('one\n', 'two\n', 'three\n', '\n', 'same\n', 'new\n', 'other\n')
const text = fc
  .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('', 'no end', '\0'))
  .map(([lines, end]) => lines.join('') + end)
const update = fc
  .tuple(fc.constantFrom(...Object.keys(oldFiles)), text)
  .map(([path, to]) => ({ kind: 'update', path, content: Buffer.from(to) }) as const)
const create = fc
  .tuple(fc.constantFrom('n', 'c/n', 'm/n'), text)
  .map(([path, to]) => ({ kind: 'create', path, content: Buffer.from(to) }) as const)
const remove = fc
  .constantFrom(...Object.keys(oldFiles))
  .map((path) => ({ kind: 'delete', path }) as const)

test('the lines that a commit counts while it is written are those that git counts', async () => {
  const start = commitFiles(repo, { files: oldFiles })
  let sure = 0
  const actions = fc.uniqueArray(fc.oneof(update, create, remove), {
    minLength: 1,
    maxLength: 4,
    selector: (action) => action.path,
  })
  await fc.assert(
    fc.asyncProperty(actions, async (chosen) => {
      const { counted, byGit } = await written(start, chosen)
      if (counted === undefined) return
      sure += 1
      expect(counted).toEqual(byGit)
    }),
    runs(120, 1),
  )
  expect(sure).toBeGreaterThan(40)
}, 60_000)

test('nothing is said of renames, of modes, and of a file that changes twice', async () => {
  const start = commitFiles(repo, { files: oldFiles })
  const content = (to: string) => Buffer.from(to)
  const unsure: readonly (readonly CommitAction[])[] = [
    [{ kind: 'move', previousPath: 'a', path: 'z' }],
    [{ kind: 'chmod', path: 'a', executable: true }],
    [{ kind: 'update', path: 'a', content: content('x'), executable: true }],
    [
      { kind: 'delete', path: 'a' },
      { kind: 'create', path: 'z', content: content(oldFiles.a) },
    ],
    [
      { kind: 'create', path: 'z', content: content('1\n') },
      { kind: 'update', path: 'z', content: content('1\n2\n') },
    ],
    [{ kind: 'update', path: 'a', content: content('three\nnew\ntwo\none\n') }],
  ]
  for (const actions of unsure) {
    const { counted } = await written(start, actions)
    expect(counted).toBeUndefined()
  }
})
