import { afterAll, beforeAll, expect, test } from 'vitest'
import { readChangelogCommits } from '../../../src/git/history/changelog-commits.ts'
import type { Repo } from '../../../src/git/repo.ts'
import { commitFiles } from '../../support/fast-import.ts'
import { type GitWorld, openGitWorld } from '../../support/git.ts'

let world: GitWorld
let repo: Repo

beforeAll(async () => {
  world = openGitWorld()
  repo = await world.repository()
})
afterAll(() => world.close())

function commit(message: string, parents?: readonly string[]): string {
  return commitFiles(repo, { message, parents, files: { f: message } })
}

test('a range gives its entries and reverts, newest first, merges included', async () => {
  const from = commit('Start\n\nChangelog: added\n', [])
  const a = commit('A\n\nText\n\nChangelog: added\nOther: x\nChangelog: fixed\n')
  commit('No trailer\n')
  commit('Wrong case\n\nchangelog: added\n')
  const side = commit('Side\n\nChangelog: added\n', [a])
  const revert = commit(`Revert\n\nThis reverts commit ${a}.\n`, [a])
  const to = commit('Merge\n\nChangelog: merged\n', [revert, side])
  const found = await readChangelogCommits(repo, { from, to, trailer: 'Changelog' })
  expect(found.map((each) => each.id)).toEqual([to, revert, side, a])
  expect(found[0]).toMatchObject({
    title: 'Merge',
    parentIds: [revert, side],
    authorEmail: 'ana@example.com',
  })
  expect(found[3]?.trailers).toEqual({ Changelog: 'fixed', Other: 'x' })
  const tooMany = readChangelogCommits(repo, { from, to, trailer: 'Changelog', limit: 3 })
  await expect(tooMany).rejects.toMatchObject({ code: 'too_large' })
  const exact = await readChangelogCommits(repo, { from: a, to, trailer: 'Changelog', limit: 3 })
  expect(exact).toHaveLength(3)
})
