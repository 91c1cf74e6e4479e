import { randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { StartError } from '../../src/base/start-error.ts'
import { openVault, type Vault } from '../../src/store/vault.ts'
import { newFolder, openTestStore, type TestStore } from '../support/database.ts'

const purpose = 'webhooks.token'
let store: TestStore
let vault: Vault
beforeAll(async () => {
  store = openTestStore()
  vault = await openVault(store.folder, store.db)
})
afterAll(() => store.remove())

/** What the bytes of a sealed text become when one of them is another. */
function withFlipped(sealed: string, at: number): string {
  const bytes = Buffer.from(sealed.slice(3), 'base64')
  bytes[at] = (bytes[at] ?? 0) ^ 0x80
  return `v1:${bytes.toString('base64')}`
}

describe('a text comes back as it was', () => {
  test.each([
    ['an empty one', ''],
    ['one character', 'a'],
    ['one with a NUL', 'a\0b'],
    ['lines', 'one\r\ntwo\n'],
    ['letters of many alphabets', 'пароль 密码 🔑 é'],
    ['one that looks sealed', 'v1:AAAA'],
    ['a private key', `-----BEGIN KEY-----\n${'x'.repeat(3000)}\n-----END KEY-----\n`],
    ['a megabyte', 'ä'.repeat(512 * 1024)],
  ])('%s', (_what, text) => {
    expect(vault.open(vault.seal(text, purpose), purpose)).toBe(text)
  })

  test('under each of its purposes, which differ by each letter', () => {
    const purposes = ['a', 'A', 'a ', '', 'ä', 'a.b', 'a.b.c']
    const sealed = purposes.map((one) => [one, vault.seal('hush', one)] as const)
    for (const [own, text] of sealed) {
      for (const other of purposes) {
        if (other === own) expect(vault.open(text, other)).toBe('hush')
        else expect(() => vault.open(text, other), `${own} as ${other}`).toThrow()
      }
    }
  })
})

describe('what is stored', () => {
  test('is printable text of a known version, a little longer than what it hides', () => {
    const sealed = vault.seal('0123456789', purpose)
    expect(sealed).toMatch(/^v1:[A-Za-z0-9+/]+=*$/)
    expect(Buffer.from(sealed.slice(3), 'base64')).toHaveLength(12 + 16 + 10)
  })

  test('never begins twice alike, even for the same text', () => {
    const starts = Array.from({ length: 500 }, () => vault.seal('same', purpose).slice(3, 19))
    expect(new Set(starts).size).toBe(500)
  })

  test('does not open when any one of its bytes has changed', () => {
    const sealed = vault.seal('secret', purpose)
    const { length } = Buffer.from(sealed.slice(3), 'base64')
    for (let at = 0; at < length; at += 1) {
      expect(() => vault.open(withFlipped(sealed, at), purpose), `byte ${at}`).toThrow()
    }
  })

  test('does not open when it is cut anywhere, or longer than it was', () => {
    const bytes = Buffer.from(vault.seal('secret', purpose).slice(3), 'base64')
    const asSealed = (some: Buffer) => `v1:${some.toString('base64')}`
    for (let length = 0; length < bytes.length; length += 1) {
      expect(() => vault.open(asSealed(bytes.subarray(0, length)), purpose)).toThrow()
    }
    expect(() => vault.open(asSealed(Buffer.concat([bytes, Buffer.from([0])])), purpose)).toThrow()
  })

  test.each(['', 'v1:', 'plain text', 'v1:!!!!', 'v1:AAAA', 'null'])(
    'is not taken for sealed when it is no such thing: %j',
    (text) => {
      expect(() => vault.open(text, purpose)).toThrow()
    },
  )

  test('does not say what it hides when it does not open', () => {
    const sealed = vault.seal('very-secret-word', purpose)
    let said = ''
    try {
      vault.open(withFlipped(sealed, 30), purpose)
    } catch (error) {
      said = String(error)
    }
    expect(said).not.toBe('')
    expect(said).not.toContain('secret-word')
  })
})

describe('the key', () => {
  const fresh = async (act: (one: TestStore, path: string) => Promise<void>) => {
    const one = openTestStore()
    try {
      await act(one, join(one.folder, 'secret.key'))
    } finally {
      await one.remove()
    }
  }
  const refusal = async (opening: Promise<unknown>) => {
    const error = await opening.then(
      () => undefined,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(StartError)
    return (error as Error).message
  }

  test('of one server opens nothing of another', async () => {
    await fresh(async (other) => {
      const stranger = await openVault(other.folder, other.db)
      expect(() => stranger.open(vault.seal('hush', purpose), purpose)).toThrow()
      expect(() => vault.open(stranger.seal('hush', purpose), purpose)).toThrow()
    })
  })

  test('may be written in capitals, and with blanks around it', async () => {
    await fresh(async (one, path) => {
      const sealed = (await openVault(one.folder, one.db)).seal('hush', purpose)
      writeFileSync(path, `\n  ${readFileSync(path, 'utf8').trim().toUpperCase()}  \r\n\n`)
      const again = await openVault(one.folder, one.db)
      expect(again.open(sealed, purpose)).toBe('hush')
    })
  })

  test('moves from the file to the setting and back, and is the same key', async () => {
    await fresh(async (one, path) => {
      const sealed = (await openVault(one.folder, one.db)).seal('hush', purpose)
      const key = readFileSync(path, 'utf8').trim()
      rmSync(path)
      const given = await openVault(one.folder, one.db, key)
      expect(given.open(sealed, purpose)).toBe('hush')
      expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined()
      writeFileSync(path, key)
      const back = await openVault(one.folder, one.db)
      expect(back.open(given.seal('more', purpose), purpose)).toBe('more')
    })
  })

  test('that is given goes before the one in the folder', async () => {
    await fresh(async (one, path) => {
      const given = randomBytes(32).toString('hex')
      writeFileSync(path, 'ab'.repeat(32))
      await openVault(one.folder, one.db, given)
      expect(await refusal(openVault(one.folder, one.db))).toContain(`the key ${path} is not the`)
    })
  })

  test.each([
    ['too short', 'ab'.repeat(31)],
    ['too long', 'ab'.repeat(33)],
    ['no hexadecimal', 'xy'.repeat(32)],
    ['empty', ''],
    ['two lines', `${'ab'.repeat(16)}\n${'ab'.repeat(16)}`],
  ])('that is %s is refused, given or in the file, and never repeated', async (_what, text) => {
    await fresh(async (one, path) => {
      const given = await refusal(openVault(one.folder, one.db, text))
      expect(given).toMatch(
        /^the key GITSTEAD_SECRET_KEY is damaged \(expected 64 hexadecimal digits\)/,
      )
      writeFileSync(path, text)
      const inFile = await refusal(openVault(one.folder, one.db))
      expect(inFile).toBe(given.replace('GITSTEAD_SECRET_KEY', path))
      // A refusal must not have bound the database to anything.
      rmSync(path)
      await openVault(one.folder, one.db)
    })
  })

  test('that cannot be read is not replaced by another', async () => {
    await fresh(async (one, path) => {
      mkdirSync(path)
      expect(await refusal(openVault(one.folder, one.db))).toMatch(
        /^the key .*secret\.key cannot be read \(/,
      )
      expect(statSync(path).isDirectory()).toBe(true)
    })
  })

  test('that is gone is not made anew, however often the server is started', async () => {
    await fresh(async (one, path) => {
      await openVault(one.folder, one.db)
      rmSync(path)
      for (let time = 0; time < 2; time += 1) {
        expect(await refusal(openVault(one.folder, one.db))).toContain('put it back from a backup')
      }
      expect(statSync(path, { throwIfNoEntry: false })).toBeUndefined()
    })
  })

  test('may lie in a file that nobody may write', async () => {
    await fresh(async (one, path) => {
      const sealed = (await openVault(one.folder, one.db)).seal('x', purpose)
      chmodSync(path, 0o400)
      expect((await openVault(one.folder, one.db)).open(sealed, purpose)).toBe('x')
    })
  })

  test('is checked by a digest in the database that shows nothing of it', async () => {
    await fresh(async (one, path) => {
      await openVault(one.folder, one.db)
      const rows = await one.db.selectFrom('settings').selectAll().execute()
      const [row] = rows.filter(({ key }) => key === 'vault_key_check')
      expect(JSON.parse(row?.value ?? '')).toMatch(/^[0-9a-f]{64}$/)
      expect(row?.value).not.toContain(readFileSync(path, 'utf8').trim())
      await openVault(one.folder, one.db)
      expect(await one.db.selectFrom('settings').selectAll().execute()).toEqual(rows)
    })
  })

  test('of a copy of the folder opens the copy of the database', async () => {
    await fresh(async (one, path) => {
      const sealed = (await openVault(one.folder, one.db)).seal('moved', purpose)
      one.checkpoint()
      const folder = newFolder()
      writeFileSync(join(folder, 'gitstead.db'), readFileSync(one.path))
      writeFileSync(join(folder, 'secret.key'), readFileSync(path))
      const copy = openTestStore(folder)
      try {
        const again = await openVault(folder, copy.db)
        expect(again.open(sealed, purpose)).toBe('moved')
      } finally {
        await copy.remove()
      }
    })
  })
})
