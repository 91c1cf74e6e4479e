import { mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { isDiskFull } from '../../src/base/full-disk.ts'
import { openStore } from '../../src/store/connection.ts'

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
    (error: Error & { code?: string }) => `${error.code}, full: ${isDiskFull(error)}`,
  )
  process.stdout.write(`${said}\n`)
}
await store.close()
rmSync(folder, { recursive: true })
