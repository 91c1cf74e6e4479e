import { runGit } from '../command.ts'
import type { Repo } from '../repo.ts'
import type { ObjectId } from '../types.ts'

/** What refs hold now; those that do not exist are left out. */
export async function readRefValues(
  repo: Repo,
  names: readonly string[],
): Promise<Map<string, ObjectId>> {
  const values = new Map<string, ObjectId>()
  const wanted = new Set(names)
  for (let at = 0; at < names.length; at += 1000) {
    const { stdout } = await runGit({
      repo: repo.path,
      args: ['for-each-ref', '--format=%(objectname) %(refname)', ...names.slice(at, at + 1000)],
    })
    for (const line of stdout.toString('utf8').split('\n')) {
      const space = line.indexOf(' ')
      const name = line.slice(space + 1)
      // A pattern also matches what lies below it as a folder.
      if (wanted.has(name)) values.set(name, line.slice(0, space))
    }
  }
  return values
}
