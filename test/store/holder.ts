// Started by tests that need another process in the way: arguments are what to hold (lock, database) and the data folder.
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { lockDataFolder } from '../../src/store/sqlite/lock.ts'

const [what, folder = ''] = process.argv.slice(2)
try {
  if (what === 'lock') lockDataFolder(folder)
  else new Database(join(folder, 'gitstead.db')).exec('BEGIN IMMEDIATE')
  process.stdout.write('held\n')
  process.stdin.resume()
  process.stdin.on('end', () => process.exit(0))
} catch (error) {
  process.stdout.write(`${(error as Error).message}\n`)
}
