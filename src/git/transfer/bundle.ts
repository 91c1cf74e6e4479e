import { runGit } from '../command.ts'
import type { Repo } from '../repo.ts'

/** Writes all branches and tags with their objects into one file that git can fetch from; false when there are none. */
export async function writeBundle(
  repo: Repo,
  path: string,
  signal?: AbortSignal,
): Promise<boolean> {
  const { stdout } = await runGit({
    repo: repo.path,
    args: ['for-each-ref', '--count=1', '--format=%(refname)', 'refs/heads', 'refs/tags'],
    signal,
  })
  if (stdout.length === 0) return false
  const args = ['bundle', 'create', '--quiet', path, '--branches', '--tags']
  await runGit({ repo: repo.path, args, timeout: 0, signal })
  return true
}
