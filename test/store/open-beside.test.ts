import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { migrations } from '../../src/areas.ts'
import { makeConfig } from '../../src/base/config.ts'
import { silentLog } from '../../src/base/log.ts'
import { openCommandParts, openServerParts } from '../../src/parts.ts'
import { openStore } from '../../src/store/connection.ts'
import { openFileStore } from '../../src/store/files.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gitstead-beside-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const options = { log: silentLog, synchronous: 'off' } as const

test('a command opens the data folder beside its server, a second server does not', async () => {
  const config = makeConfig({ data: folder, engineProcesses: 1 })
  const server = await openServerParts(config, options)
  const command = await openCommandParts(config, options)
  await expect(openServerParts(config, options)).rejects.toThrow('another server')
  await command.close()
  await server.close()
  const next = await openServerParts(config, options)
  await next.close()
})

test('a command upgrades no database that a server uses', async () => {
  const store = openStore(folder, { migrations: migrations.slice(0, 1), synchronous: 'off' })
  await store.close()
  const later = [...migrations.slice(0, 1), { name: '9999-later', sql: 'CREATE TABLE later (a)' }]
  expect(() => openStore(folder, { migrations: later, mayMigrate: false })).toThrow(
    'it lacks 9999-later',
  )
})

test('an upload of the server survives a command that opens the files', async () => {
  const files = await openFileStore(folder)
  async function* slow() {
    yield Buffer.from('first ')
    await openFileStore(folder, { clear: false })
    yield Buffer.from('second')
  }
  const { sha256 } = await files.put(slow())
  expect((await files.read(sha256)).toString()).toBe('first second')
})
