import { runGit } from '../command.ts'
import { assertRefName, isObjectId } from '../names.ts'
import type { Repo } from '../repo.ts'

/** Copies what a ref or a commit of another repository of this server reaches; no ref of ours moves. */
export async function fetchObjects(repo: Repo, from: Repo, wanted: string): Promise<void> {
  if (repo.path === from.path) return
  await runGit({
    repo: repo.path,
    args: [
      ...['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-auto-maintenance'],
      ...['--', from.path, isObjectId(wanted) ? wanted : assertRefName(wanted)],
    ],
    config: { 'transfer.fsckObjects': 'false', 'fetch.unpackLimit': '1000' },
    timeout: 10 * 60_000,
  })
}
