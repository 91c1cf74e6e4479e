import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes of an object id in a repository: 20, or 32 where its configuration names SHA-256. */
export function idBytesOf(repository: string): 20 | 32 {
  try {
    const config = readFileSync(join(repository, 'config'), 'latin1')
    return /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 32 : 20
  } catch {
    return 20
  }
}
