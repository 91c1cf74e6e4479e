import { runGit } from '../command.ts'
import type { Repo } from '../repo.ts'

/** The name of the tag with the newest date (its own, or its commit's), or undefined without tags. */
export async function newestTag(repo: Repo, signal?: AbortSignal): Promise<string | undefined> {
  const { stdout } = await runGit({
    repo: repo.path,
    args: [
      'for-each-ref',
      '--sort=-creatordate',
      '--count=1',
      '--format=%(refname:strip=2)',
      'refs/tags',
    ],
    signal,
  })
  return stdout.toString('utf8').trim() || undefined
}
