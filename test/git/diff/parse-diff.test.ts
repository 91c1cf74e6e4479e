import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DiffBudget, type DiffLimits, defaultDiffLimits } from '../../../src/git/diff/limits.ts'
import { type ParsedFile, parseDiff, splitPatches } from '../../../src/git/diff/parse-diff.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { after, anySteps, difference, startTree } from '../../support/any-change.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, git, gitBytes, openGitWorld } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

let world: GitWorld
let repo: Repo
/** What git prints about some changes: of any files, and of names and texts that could be taken for something else. */
const outputs: Buffer[] = []

const shown = ['diff-tree', '-r', '-M', '--raw', '-z', '-p', '--full-index', '--no-color']

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
  const start = commitFiles(repo, { files: Object.fromEntries(startTree) })
  for (const steps of fc.sample(anySteps, { numRuns: 8, seed: 14 })) {
    const files = difference(startTree, after(startTree, steps))
    const to = commitFiles(repo, { files, parents: [start], ref: 'refs/heads/any' })
    outputs.push(gitBytes(repo.path, [...shown, start, to]))
  }
  const odd = commitFiles(repo, {
    files: {
      'diff --git a b': 'diff --git a/x b/x\n@@ -1 +1 @@\n',
      'two\nlines': '-- \n++ \nBinary files a and b differ\n',
      'raw:\xff\xfe': 'x\n',
      'with "quotes"': 'no newline',
      bytes: Buffer.from([0, 1, 2, 255]),
      link: { mode: '120000', data: 'target' },
      module: { submodule: '1'.repeat(40) },
      'empty.txt': '',
      program: { mode: '100755', data: '#!/bin/sh\n' },
      long: Array.from({ length: 100 }, (_, i) => `line ${i}\n`).join(''),
    },
    parents: [start],
    ref: 'refs/heads/odd',
  })
  const changed = commitFiles(repo, {
    files: {
      'diff --git a b': '\ndiff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n',
      'two\nlines': 'Binary files a and b differ\n',
      'raw:\xff\xfe': '\xff\n',
      'with "quotes"': 'no newline\n',
      bytes: Buffer.from([0, 1, 2, 254]),
      link: 'no link any more\n',
      module: { submodule: '2'.repeat(40) },
      'empty.txt': null,
      program: { mode: '100644', data: '#!/bin/sh\n' },
      moved: '',
    },
    parents: [odd],
    ref: 'refs/heads/odd',
  })
  outputs.push(gitBytes(repo.path, [...shown, start, odd]))
  outputs.push(gitBytes(repo.path, [...shown, odd, changed]))
  outputs.push(gitBytes(repo.path, [...shown, changed, start]))
  outputs.push(gitBytes(repo.path, [...shown, start, start]))
}, 60_000)
afterAll(() => world.close())

/** The bytes in pieces that end at the given places. */
async function* cut(data: Buffer, ends: readonly number[]): AsyncGenerator<Buffer> {
  let from = 0
  for (const end of [...ends].sort((a, b) => a - b)) {
    if (end > from && end < data.length) {
      yield data.subarray(from, end)
      from = end
    }
  }
  if (from < data.length) yield data.subarray(from)
}

async function parse(pieces: AsyncIterable<Buffer>, keep = 1 << 20): Promise<ParsedFile[]> {
  const files: ParsedFile[] = []
  for await (const file of parseDiff(pieces, keep)) files.push(file)
  return files
}

describe('what git prints', () => {
  test('is taken apart the same however it comes', async () => {
    for (const output of outputs) {
      const whole = await parse(cut(output, []))
      const every = Array.from({ length: output.length }, (_, i) => i)
      expect(await parse(cut(output, every))).toEqual(whole)
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.nat(Math.max(output.length, 1)), { maxLength: 12 }),
          async (ends) => {
            expect(await parse(cut(output, ends))).toEqual(whole)
          },
        ),
        runs(6, 15),
      )
    }
  })

  test('has a patch for each change, whose lines are those that git counts', async () => {
    for (const branch of ['any', 'odd']) {
      const [to = '', from = ''] = git(repo.path, ['rev-list', '-2', branch]).split('\n')
      const files = await parse(cut(gitBytes(repo.path, [...shown, from, to]), []))
      const counted = gitBytes(repo.path, ['diff-tree', '-r', '-M', '-z', '--numstat', from, to])
        .toString('utf8')
        .split('\0')
        .filter((field) => /^(\d+|-)\t(\d+|-)\t/.test(field))
        .map((field) =>
          field
            .split('\t')
            .slice(0, 2)
            .map((n) => Number(n) || 0),
        )
      const sum = (column: 0 | 1) => counted.reduce((total, line) => total + (line[column] ?? 0), 0)
      expect(files.reduce((total, { patch }) => total + patch.additions, 0)).toBe(sum(0))
      expect(files.reduce((total, { patch }) => total + patch.deletions, 0)).toBe(sum(1))
    }
  })

  test('of a change of type is a deletion and an addition', async () => {
    const [to = '', from = ''] = git(repo.path, ['rev-list', '-2', 'odd']).split('\n')
    const files = await parse(cut(gitBytes(repo.path, [...shown, from, to]), []))
    const link = files.filter(({ change }) => change.newPath === 'link')
    expect(link.map(({ change }) => [change.status, change.oldMode, change.newMode])).toEqual([
      ['deleted', '120000', '000000'],
      ['added', '000000', '100644'],
    ])
    const module = files.find(({ change }) => change.newPath === 'module')
    expect(module?.patch).toMatchObject({ additions: 1, deletions: 1, binary: false })
    expect(module?.patch.text).toContain(`+Subproject commit ${'2'.repeat(40)}`)
    const bytes = files.find(({ change }) => change.newPath === 'bytes')
    expect(bytes?.patch).toMatchObject({ additions: 0, deletions: 0, lines: 1, binary: true })
    const program = files.find(({ change }) => change.newPath === 'program')
    expect(program).toMatchObject({
      change: { oldMode: '100755', newMode: '100644', status: 'modified' },
      patch: { text: '', bytes: 0, lines: 0, binary: false },
    })
  })

  test('is counted beyond what is kept of it', async () => {
    for (const output of outputs) {
      const whole = await parse(cut(output, []))
      // More than the head of a patch has.
      for (const keep of [400, 600]) {
        const some = await parse(cut(output, [50, 400]), keep)
        const expected = whole.map(({ change, patch }) => {
          const isKept = patch.bytes < keep
          return [change, patch.bytes, isKept ? patch.text : '']
        })
        expect(some.map(({ change, patch }) => [change, patch.bytes, patch.text])).toEqual(expected)
      }
    }
  })

  test('with more patches than changes is none of git’s', () => {
    const patches = Buffer.from('diff --git a/x b/x\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/y b/y\n')
    const change = {
      ...{ oldMode: '100644', newMode: '100644', oldId: '1', newId: '2' },
      ...{ status: 'modified' as const, oldPath: 'x', newPath: 'x' },
    }
    expect(() => [...splitPatches([change], patches, 100)]).toThrow('more patches than changes')
    expect([...splitPatches([], Buffer.alloc(0), 100)]).toEqual([])
  })
})

describe('a budget', () => {
  const limits = (some: Partial<DiffLimits>): DiffLimits => ({ ...defaultDiffLimits, ...some })
  const judgeAll = (some: Partial<DiffLimits>, sizes: readonly (readonly [number, number])[]) => {
    const budget = new DiffBudget(limits(some))
    return sizes.map(([bytes, lines]) => budget.judge({ bytes, lines }))
  }

  test('has soft limits of a tenth, which do not count for what is asked for by itself', () => {
    const files = Array.from({ length: 5 }, () => [10, 1] as const)
    expect(judgeAll({ files: 20 }, files)).toEqual([
      ...['whole', 'whole', 'collapsed', 'collapsed', 'collapsed'],
    ])
    expect(judgeAll({ files: 20, expanded: true }, files)).toEqual(files.map(() => 'whole'))
    expect(
      judgeAll({ fileBytes: 100 }, [
        [9, 1],
        [10, 1],
        [99, 1],
        [100, 1],
      ]),
    ).toEqual([...['whole', 'collapsed', 'collapsed', 'too_large']])
    expect(
      judgeAll({ lines: 100 }, [
        [10, 9],
        [10, 1],
        [10, 89],
        [10, 1],
      ]),
    ).toEqual([...['whole', 'collapsed', 'collapsed', 'overflow']])
  })

  test('ends a list at each of its hard limits', () => {
    expect(
      judgeAll({ files: 2, expanded: true }, [
        [1, 1],
        [1, 1],
        [1, 1],
      ]),
    ).toEqual([...['whole', 'whole', 'overflow']])
    expect(
      judgeAll({ bytes: 10, expanded: true }, [
        [9, 1],
        [1, 1],
      ]),
    ).toEqual(['whole', 'overflow'])
    expect(
      judgeAll({ lines: 10, expanded: true }, [
        [1, 9],
        [1, 1],
      ]),
    ).toEqual(['whole', 'overflow'])
  })

  test('does not count what is too large, and never collapses what has no patch', () => {
    const large = [500, 50] as const
    expect(
      judgeAll({ fileBytes: 100, bytes: 600, lines: 60 }, [large, large, large, [5, 1]]),
    ).toEqual([...['too_large', 'too_large', 'too_large', 'whole']])
    expect(
      judgeAll(
        { files: 10 },
        Array.from({ length: 4 }, () => [0, 0] as const),
      ),
    ).toEqual([...['whole', 'whole', 'whole', 'whole']])
  })
})
