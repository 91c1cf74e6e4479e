import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openVault } from '../../src/store/vault.ts'
import { openTestStore, type TestStore } from '../support/database.ts'

let store: TestStore
let path: string
beforeEach(() => {
  store = openTestStore()
  path = join(store.folder, 'secret.key')
})
afterEach(() => store.remove())

const open = (given?: string) => openVault(store.folder, store.db, given)

describe('a sealed text', () => {
  test('opens again, also after a restart, and looks different each time', async () => {
    const sealed = (await open()).seal('hush ü', 'webhooks.token')
    const vault = await open()
    expect(vault.open(sealed, 'webhooks.token')).toBe('hush ü')
    expect(vault.seal('hush ü', 'webhooks.token')).not.toBe(sealed)
    expect(sealed).not.toContain('hush')
  })

  test('does not open for another purpose, nor when a byte has changed, nor when it is cut', async () => {
    const vault = await open()
    const sealed = vault.seal('hush', 'webhooks.token')
    expect(() => vault.open(sealed, 'mirrors.password')).toThrow()
    const flipped = Buffer.from(sealed.slice(3), 'base64')
    flipped[20] = (flipped[20] ?? 0) ^ 1
    expect(() => vault.open(`v1:${flipped.toString('base64')}`, 'webhooks.token')).toThrow()
    expect(() => vault.open(sealed.slice(0, 20), 'webhooks.token')).toThrow()
  })
})

describe('the key', () => {
  test('lies beside the database, for nobody else to read, and not in it', async () => {
    await open()
    expect(statSync(path).mode & 0o077).toBe(0)
    store.checkpoint()
    const key = readFileSync(path, 'utf8').trim()
    const bytes = readFileSync(store.path)
    expect(bytes.includes(key)).toBe(false)
    expect(bytes.includes(Buffer.from(key, 'hex'))).toBe(false)
  })

  test('that is missing stops the start of a server that had one, in words', async () => {
    await open()
    rmSync(path)
    await expect(open()).rejects.toThrow(`the key ${path} is missing`)
  })

  test('of another database stops the start', async () => {
    await open()
    writeFileSync(path, 'ab'.repeat(32))
    await expect(open()).rejects.toThrow(`the key ${path} is not the one of this database`)
  })

  test('that is no key stops the start', async () => {
    writeFileSync(path, 'short')
    await expect(open()).rejects.toThrow('expected 64 hexadecimal digits')
  })

  test('may be given instead of lying in the folder', async () => {
    const sealed = (await open('cd'.repeat(32))).seal('x', 'p')
    expect((await open('cd'.repeat(32))).open(sealed, 'p')).toBe('x')
    expect(() => statSync(path)).toThrow('ENOENT')
    await expect(open('ef'.repeat(32))).rejects.toThrow('GITSTEAD_SECRET_KEY is not the one')
  })
})
