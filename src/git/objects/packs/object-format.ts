import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ObjectFormat } from '../../types.ts'

/** The object format that a repository's configuration names. */
export function formatIn(repository: string): ObjectFormat {
  try {
    const config = readFileSync(join(repository, 'config'), 'latin1')
    return /^\s*objectformat\s*=\s*sha256\s*$/im.test(config) ? 'sha256' : 'sha1'
  } catch {
    return 'sha1'
  }
}
