// @ts-check
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { loadCompiled } from '../../scripts/setup/load.mjs'
import { root } from '../../scripts/setup.mjs'

/** @type {typeof import('../../src/base/full-disk.ts')} */
const { isDiskFull } = loadCompiled(root, 'base/full-disk.js')
/** @type {typeof import('../../src/store/connection.ts')} */
const { openStore } = loadCompiled(root, 'store/connection.js')

// Writes more than it may, first where there is room beside the database, then where there is none.
const folder = process.argv[2] ?? ''
mkdirSync(folder, { recursive: true })
const store = openStore(folder, { migrations: [], synchronous: 'off' })
await sql`CREATE TABLE texts (text TEXT) STRICT`.execute(store.db)
for (const isFull of [false, true]) {
  if (isFull) symlinkSync('/dev/full', join(folder, 'gitstead.db-probe'))
  const writing = sql`INSERT INTO texts VALUES (${'x'.repeat(20_000_000)})`.execute(store.db)
  const said = await writing.then(
    () => 'written',
    (/** @type {Error & { code?: string }} */ error) => `${error.code}, full: ${isDiskFull(error)}`,
  )
  process.stdout.write(`${said}\n`)
}
await store.close()
rmSync(folder, { recursive: true })
