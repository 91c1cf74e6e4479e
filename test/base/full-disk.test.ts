import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isDiskFull, saysDiskFull } from '../../src/base/full-disk.ts'
import { newFolder } from '../support/database.ts'

test.each([
  'fatal: write error: No space left on device',
  "fatal: sha1 file '/data/objects/info/commit-graphs/tmp_graph' write error. Out of diskspace",
  'error: unable to write file: Disk quota exceeded',
])('a program that says "%s" found no room', (said) => {
  expect(saysDiskFull(said)).toBe(true)
})

test('a program that failed for another reason did not', () => {
  expect(saysDiskFull('fatal: bad object HEAD')).toBe(false)
})

test('a write of the database that the system refuses for a limit is one that found no room', () => {
  const write = `
    const db = new (require('better-sqlite3'))(process.argv[1])
    db.exec('CREATE TABLE t (x)')
    try { db.prepare('INSERT INTO t VALUES (zeroblob(10000000))').run() }
    catch ({ code }) { process.stdout.write(code) }`
  const limited = 'ulimit -f 1024 && exec "$0" -e "$1" "$2"'
  const folder = newFolder()
  mkdirSync(folder, { recursive: true })
  const args = ['-c', limited, process.execPath, write, join(folder, 'db')]
  const { stdout } = spawnSync('bash', args, { encoding: 'utf8' })
  // As of a quota, of which SQLite makes the same.
  expect(stdout).toBe('SQLITE_IOERR_WRITE')
  expect(isDiskFull(Object.assign(new Error('disk I/O error'), { code: stdout }))).toBe(true)
})

test('an error that was caused by a full disk is one', () => {
  const cause = Object.assign(new Error('write'), { code: 'ENOSPC' })
  expect(isDiskFull(new Error('the upload failed', { cause }))).toBe(true)
  expect(isDiskFull(new Error('the upload failed'))).toBe(false)
})
