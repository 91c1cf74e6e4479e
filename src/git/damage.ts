import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { GitError } from './error.ts'

/** Throws `damaged` when a repository that should be there is not: it must not look like an empty one. */
export function assertRepository(path: string): void {
  if (existsSync(join(path, 'HEAD'))) return
  const what = existsSync(path) ? 'HEAD of the repository' : 'the folder of the repository'
  throw new GitError('damaged', `${what} is missing: ${path}`)
}
