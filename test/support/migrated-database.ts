import { rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { migratedDatabase } from './database.ts'

/** Around a whole run: the database that its worlds begin with, made once for all its processes. */
export function setup(): () => void {
  const file = join(tmpdir(), `gitstead-migrated-${process.pid}.db`)
  writeFileSync(file, migratedDatabase(), { mode: 0o600 })
  process.env.GITSTEAD_TEST_DATABASE = file
  return () => rmSync(file)
}
