import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readBlame } from '../../../src/git/history/blame.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, gitBytes, openGitWorld } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

let world: GitWorld
let repo: Repo

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(() => world.close())

function commit(parents: readonly string[], files: Record<string, string>): string {
  return commitFiles(repo, { parents, files, ref: 'refs/heads/scratch' })
}

/** Commit and text of each line, as git says. */
function linesOfGit(id: string, path: string, range: readonly string[] = []): string[] {
  const text = gitBytes(repo.path, [
    'blame',
    '--line-porcelain',
    ...range,
    id,
    '--',
    path,
  ]).toString()
  const lines: string[] = []
  let current = ''
  for (const line of text.split('\n').slice(0, -1)) {
    current = /^([0-9a-f]{40}) \d/.exec(line)?.[1] ?? current
    if (line.startsWith('\t')) lines.push(`${current} ${line.slice(1)}`)
  }
  return lines
}

async function linesOf(id: string, path: string, range?: { start: number; end: number }) {
  const { ranges } = await readBlame(repo, { commitId: id, path, range })
  return ranges.flatMap((each) => each.lines.map((line) => `${each.commitId} ${line}`))
}

describe('blame', () => {
  test('of any history is what git says, in whole and in part', async () => {
    const line = fc.constantFrom('a', 'b', 'c', '', '\ttab', 'é', 'cr\r', '0123456789abcdef')
    const file = fc.array(line, { minLength: 1, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(fc.array(file, { minLength: 1, maxLength: 5 }), async (versions) => {
        let tip: string[] = []
        for (const version of versions) tip = [commit(tip, { 'a b': version.join('\n') })]
        const [id = ''] = tip
        expect(await linesOf(id, 'a b')).toEqual(linesOfGit(id, 'a b'))
        const count = linesOfGit(id, 'a b').length
        if (count < 2) return
        expect(await linesOf(id, 'a b', { start: 2, end: 99 })).toEqual(
          linesOfGit(id, 'a b', ['-L2,99']),
        )
      }),
      runs(12, 1),
    )
  }, 60_000)

  test('groups lines that stand together, and gives each commit once', async () => {
    const one = commit([], { f: 'a\nb\nc\nd\n' })
    const two = commit([one], { f: 'a\nX\nc\nd\n' })
    const { ranges, commits } = await readBlame(repo, { commitId: two, path: 'f' })
    expect(ranges).toEqual([
      { commitId: one, lines: ['a'] },
      { commitId: two, lines: ['X'] },
      { commitId: one, lines: ['c', 'd'] },
    ])
    expect(commits.map((each) => each.id)).toEqual([one, two])
    expect(commits[1]).toMatchObject({ parentIds: [one], author: { name: 'Ana Author' } })
  })

  test('of an empty file has no lines', async () => {
    const id = commit([], { e: '' })
    expect(await readBlame(repo, { commitId: id, path: 'e' })).toEqual({ ranges: [], commits: [] })
  })

  test('knows names that git would read as patterns or options', async () => {
    const id = commit([], { ':wq': 'x\n', '-L1': 'y\n', '*': 'z\n' })
    for (const path of [':wq', '-L1', '*']) expect(await linesOf(id, path)).toHaveLength(1)
  })

  test('fails with a reason', async () => {
    const id = commit([], { f: 'a\n', 'd/g': 'b\n' })
    const at = (path: string, range?: { start: number; end: number }) =>
      readBlame(repo, { commitId: id, path, range })
    await expect(at('zzz')).rejects.toMatchObject({ code: 'not_found' })
    await expect(at('d')).rejects.toMatchObject({ code: 'not_found' })
    await expect(at('../x')).rejects.toMatchObject({ code: 'invalid' })
    await expect(at('f', { start: 2, end: 1 })).rejects.toMatchObject({ code: 'invalid' })
    await expect(at('f', { start: 5, end: 9 })).rejects.toMatchObject({
      code: 'invalid',
      detail: { reason: 'range' },
    })
  })
})
