import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { reasonOf, StartError } from '../base/start-error.ts'
import type { Db } from './schema.ts'
import { findSetting } from './settings-queries.ts'

/** Keeps what must be read again, such as passwords of upstream servers, unreadable in a copy of the database. */
export interface Vault {
  /** `purpose` names the place, such as `webhooks.token`: what is sealed for one can't be opened as another. */
  seal(text: string, purpose: string): string
  open(sealed: string, purpose: string): string
}

const ivBytes = 12
const tagBytes = 16
const checkKey = 'vault_key_check'

/**
 * Opens the vault with the key in `<folder>/secret.key`, or the one given (64 hex digits). A new folder gets a new key;
 * a database that knows a key refuses to start without it.
 */
export async function openVault(folder: string, db: Db, given?: string): Promise<Vault> {
  const path = join(folder, 'secret.key')
  const known = await findSetting(db, checkKey)
  const key =
    given === undefined
      ? readKey(path, known === undefined)
      : parseKey(given, 'GITSTEAD_SECRET_KEY')
  if (!key) {
    throw new StartError(
      `the key ${path} is missing, and secrets in the database need it: put it back from a backup`,
    )
  }
  const check = createHash('sha256').update('vault check').update(key).digest('hex')
  if (known === undefined) await saveCheck(db, check)
  else if (known !== check) {
    throw new StartError(
      `the key ${given === undefined ? path : 'GITSTEAD_SECRET_KEY'} is not the one of this database: put it back from a backup`,
    )
  }
  return vaultOf(key)
}

function vaultOf(key: Buffer): Vault {
  return {
    seal(text, purpose) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(Buffer.from(purpose))
      const hidden = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return `v1:${Buffer.concat([iv, cipher.getAuthTag(), hidden]).toString('base64')}`
    },
    open(sealed, purpose) {
      const bytes = Buffer.from(sealed.replace(/^v1:/, ''), 'base64')
      const iv = bytes.subarray(0, ivBytes)
      const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: tagBytes })
      decipher.setAAD(Buffer.from(purpose))
      decipher.setAuthTag(bytes.subarray(ivBytes, ivBytes + tagBytes))
      const hidden = bytes.subarray(ivBytes + tagBytes)
      return decipher.update(hidden, undefined, 'utf8') + decipher.final('utf8')
    },
  }
}

function readKey(path: string, mayMake: boolean): Buffer | undefined {
  try {
    return parseKey(readFileSync(path, 'utf8').trim(), path)
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
    if (!isMissing) throw error instanceof StartError ? error : unreadable(path, error)
    return mayMake ? makeKey(path) : undefined
  }
}

function unreadable(path: string, error: unknown): StartError {
  return new StartError(`the key ${path} cannot be read (${reasonOf(error)})`)
}

function parseKey(text: string, name: string): Buffer {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  throw new StartError(
    `the key ${name} is damaged (expected 64 hexadecimal digits): put it back from a backup`,
  )
}

/** On the disk before anything is sealed with it. */
function makeKey(path: string): Buffer {
  const key = randomBytes(32)
  const file = openSync(path, 'wx', 0o600)
  writeSync(file, `${key.toString('hex')}\n`)
  fsyncSync(file)
  closeSync(file)
  return key
}

async function saveCheck(db: Db, check: string): Promise<void> {
  await db
    .insertInto('settings')
    .values({ key: checkKey, value: JSON.stringify(check) })
    .execute()
}
