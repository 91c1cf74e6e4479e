import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { newTestFolder } from '../support/test-folder.ts'

test('a refused write is a full disk where no other finds room, and a limit of the size of files is none', () => {
  const child = fileURLToPath(new URL('refused-write-child.mjs', import.meta.url))
  // The largest file that it may write; SQLite names that as it does a spent quota.
  const limited = 'ulimit -f 16384 && exec "$0" "$1" "$2"'
  const args = ['-c', limited, process.execPath, child, newTestFolder()]
  const { stdout } = spawnSync('bash', args, { encoding: 'utf8' })
  expect(stdout).toBe('SQLITE_IOERR_WRITE, full: false\nSQLITE_IOERR_WRITE, full: true\n')
})
