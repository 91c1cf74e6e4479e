import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Repo } from '../repo.ts'

/** Whether a ref has a file of its own: it was written since refs were packed last. */
export function isLooseRef(repo: Repo, name: string): boolean {
  return existsSync(join(repo.path, name))
}
