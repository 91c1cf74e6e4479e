import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import { StartError } from '../../../base/start-error.ts'
import type { SealedSecrets } from './manifest.ts'

/** Files of the data folder by name, that nobody but the operator may read. */
export type Secrets = Readonly<Record<string, string>>

/** A guess takes a processor some tenths of a second, and 64 MB. */
const cost = { n: 2 ** 16, r: 8, p: 1 } as const
const keyBytes = 32
const purpose = Buffer.from('gitstead backup secrets')

export async function sealSecrets(secrets: Secrets, passphrase: string): Promise<SealedSecrets> {
  const salt = randomBytes(16)
  const iv = randomBytes(12)
  const key = await keyOf(passphrase, salt, cost)
  const cipher = createCipheriv('aes-256-gcm', key, iv).setAAD(purpose)
  const data = Buffer.concat([cipher.update(JSON.stringify(secrets), 'utf8'), cipher.final()])
  return {
    kdf: 'scrypt',
    ...cost,
    cipher: 'aes-256-gcm',
    salt: salt.toString('base64'),
    iv: iv.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    data: data.toString('base64'),
  }
}

/** Refuses a passphrase that is not the one they were sealed with. */
export async function openSecrets(sealed: SealedSecrets, passphrase: string): Promise<Secrets> {
  const bytes = (text: string) => Buffer.from(text, 'base64')
  const key = await keyOf(passphrase, bytes(sealed.salt), sealed)
  try {
    const decipher = createDecipheriv('aes-256-gcm', key, bytes(sealed.iv), { authTagLength: 16 })
    decipher.setAAD(purpose).setAuthTag(bytes(sealed.tag))
    const text = decipher.update(bytes(sealed.data), undefined, 'utf8') + decipher.final('utf8')
    return JSON.parse(text) as Secrets // sealed by us
  } catch {
    throw new StartError('the passphrase is not the one of this backup')
  }
}

function keyOf(
  passphrase: string,
  salt: Buffer,
  { n, r, p }: { readonly n: number; readonly r: number; readonly p: number },
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const options = { N: n, r, p, maxmem: 256 * n * r }
    scrypt(passphrase.normalize('NFC'), salt, keyBytes, options, (error, key) => {
      if (error) reject(error)
      else resolve(key)
    })
  })
}
