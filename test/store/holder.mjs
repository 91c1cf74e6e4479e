// @ts-check
// Started by tests that need another process in the way: arguments are what to hold (lock, database) and the data folder.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { loadCompiled } from '../../scripts/setup/load.mjs'
import { root } from '../../scripts/setup.mjs'

/** @type {typeof import('../../src/store/sqlite/lock.ts')} */
const { lockDataFolder } = loadCompiled(root, 'store/sqlite/lock.js')

const [what, folder = ''] = process.argv.slice(2)
try {
  const held = what === 'lock' ? await lockDataFolder(folder) : holdDatabase()
  process.stdout.write('held\n')
  process.stdin.resume()
  // Named here, so that the garbage collector does not let go of it.
  process.stdin.on('end', () => process.exit(held ? 0 : 1))
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : error}\n`)
}

function holdDatabase() {
  return new Database(join(folder, 'gitstead.db')).exec('BEGIN IMMEDIATE')
}
