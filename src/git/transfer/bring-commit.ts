import { runGit } from '../command.ts'
import { assertObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

/** Copies a commit and all it needs from another repository of the server; no ref moves. */
export async function bringCommit(repo: Repo, from: Repo, id: ObjectId): Promise<void> {
  if (repo.path === from.path) return
  await runGit({
    repo: repo.path,
    // Only version 2 of the protocol gives out commits that are no tip.
    config: { 'protocol.version': '2', 'fetch.writeCommitGraph': 'false', 'gc.auto': '0' },
    args: [
      'fetch',
      '--quiet',
      '--no-tags',
      '--no-write-fetch-head',
      '--no-auto-maintenance',
      from.path,
      assertObjectId(id),
    ],
    timeout: 10 * 60_000,
  })
}
