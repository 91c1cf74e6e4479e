import { afterAll, beforeAll, expect, test } from 'vitest'
import { readDiff } from '../../../src/git/diff/diff.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo
beforeAll(async () => {
  world = openGitWorld(1)
  repo = await world.repository()
})
afterAll(() => world.close())

/** Bytes of the engine process after so many diffs, some at a time. */
async function memoryAfter(count: number, from: string, to: string): Promise<number> {
  const atOnce = 20
  for (let at = 0; at < count; at += atOnce) {
    await Promise.all(Array.from({ length: atOnce }, () => readDiff(repo, { from, to })))
  }
  return world.store.engine.load().memory
}

test('thousands of diffs leave nothing behind in an engine process', async () => {
  const text = (mark: string) =>
    Array.from({ length: 200 }, (_, i) => `line ${i} ${mark}\n`).join('')
  const files = (mark: string) =>
    Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`folder/${i}.txt`, text(mark)]))
  const from = commitFiles(repo, { files: files('before') })
  const to = commitFiles(repo, { parents: [from], files: files('after') })
  const warm = await memoryAfter(600, from, to)
  const later = await memoryAfter(1000, from, to)
  expect(later).toBeGreaterThan(0)
  // A diff holds some hundred KB until it is freed.
  expect(later - warm).toBeLessThan(60 * 1024 * 1024)
}, 120_000)
