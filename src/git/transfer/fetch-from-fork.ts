import { runGit } from '../command.ts'
import { assertRefName } from '../names.ts'
import type { Repo } from '../repo.ts'

/** Copies what a ref of another repository of this server reaches; no ref of ours moves. */
export async function fetchFromFork(repo: Repo, fork: Repo, ref: string): Promise<void> {
  await runGit({
    repo: repo.path,
    args: [
      ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'],
      ...['--', fork.path, assertRefName(ref)],
    ],
    config: { 'transfer.fsckObjects': 'false', 'fetch.unpackLimit': '1000' },
    timeout: 10 * 60_000,
  })
}
