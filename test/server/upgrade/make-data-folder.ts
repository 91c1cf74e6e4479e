// `node --import tsx test/server/upgrade/make-data-folder.ts <name>`: keeps a data folder, as this version writes it, below
// fixtures/data-folders/, for the test that upgrades it. One is made for each release (docs/releasing.md).
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import { startServerProcess } from '../../support/server-process.ts'
import { fillServer } from './contents.ts'

const [name] = process.argv.slice(2)
if (name === undefined || !/^[\w.-]+$/.test(name)) throw new Error('name the version: 0.1.0')
const data = mkdtempSync(join(tmpdir(), 'gitstead-data-'))
try {
  const server = await startServerProcess(data)
  try {
    await fillServer(server.url)
  } finally {
    await server.stop()
  }
  const database = new Database(join(data, 'gitstead.db'))
  database.pragma('journal_mode = DELETE')
  database.exec('VACUUM')
  database.close()
  const out = fileURLToPath(
    new URL(`../../../fixtures/data-folders/${name}.tar.gz`, import.meta.url),
  )
  // Only what has to be kept: the rest is made again.
  const kept = ['gitstead.db', 'secret.key', 'repositories', 'files']
  const packer = ['--use-compress-program', 'gzip -n -9', '--sort=name', '--owner=0', '--group=0']
  execFileSync('tar', [...packer, '--exclude=*.sample', '-cf', out, '-C', data, ...kept])
} finally {
  rmSync(data, { recursive: true, force: true })
}
