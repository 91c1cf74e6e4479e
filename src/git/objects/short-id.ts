import { runGit } from '../command.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import type { ObjectId } from '../types.ts'

/** All objects whose id starts with these hex digits. */
export async function listObjectsStartingWith(
  repository: OpenRepository,
  digits: string,
): Promise<ObjectId[]> {
  const { stdout } = await runGit({
    repo: repository.path,
    args: ['rev-parse', `--disambiguate=${digits}`],
  })
  return stdout.toString('latin1').split('\n').filter(Boolean)
}
