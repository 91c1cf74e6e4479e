import { createHash } from 'node:crypto'
import ssh2 from 'ssh2'
import type { Ctx } from '../../ctx.ts'

/** A key by which clients know the server again. */
export interface HostKey {
  /** In OpenSSH's form; never leaves the server. */
  readonly privateKey: string
  /** `ssh-ed25519 AAAA…`. */
  readonly publicKey: string
}

/** One kind that all clients of today prefer, and one for those of some years ago. */
const kinds = [['ed25519'], ['ecdsa', { bits: 256 }]] as const

const DOCUMENT = 'ssh_host_keys'
const PURPOSE = 'ssh.host_keys'

type Keeper = Pick<Ctx, 'db' | 'settings' | 'vault'>

/** The keys of the instance, which are kept sealed in the database; none before the first start with SSH. */
export function listHostKeys({ settings, vault }: Pick<Keeper, 'settings' | 'vault'>): HostKey[] {
  const sealed = settings.document(DOCUMENT)
  if (typeof sealed !== 'string') return []
  return JSON.parse(vault.open(sealed, PURPOSE)) as HostKey[] // written by us
}

/** The same; made when there are none. */
export async function ensureHostKeys(ctx: Keeper): Promise<HostKey[]> {
  const known = listHostKeys(ctx)
  if (known.length > 0) return known
  const made = await Promise.all(kinds.map(make))
  await ctx.settings.saveDocument(ctx.db, DOCUMENT, ctx.vault.seal(JSON.stringify(made), PURPOSE))
  return made
}

const mostTries = 20

/** The library now and then writes a key that it cannot read: only one that signs is kept. */
async function make(kind: (typeof kinds)[number]): Promise<HostKey> {
  for (let tries = 0; tries < mostTries; tries++) {
    const key = await generate(kind)
    if (signs(key)) return key
  }
  throw new Error(`no host key of the kind ${kind[0]} could be made`)
}

function generate([type, options]: (typeof kinds)[number]): Promise<HostKey> {
  return new Promise((resolve, reject) => {
    const take = (error: Error | null, keys: { private: string; public: string }) =>
      error ? reject(error) : resolve({ privateKey: keys.private, publicKey: keys.public.trim() })
    if (type === 'ed25519') ssh2.utils.generateKeyPair(type, take)
    else ssh2.utils.generateKeyPair(type, options, take)
  })
}

function signs({ privateKey, publicKey }: HostKey): boolean {
  const [own, known] = [privateKey, publicKey].map((text) => ssh2.utils.parseKey(text))
  if (!own || !known || own instanceof Error || known instanceof Error) return false
  const signature = own.sign('host key')
  return !(signature instanceof Error) && known.verify('host key', signature) === true
}

/** How OpenSSH shows a public key to people: `SHA256:…`. */
export function fingerprintOf(publicKey: string): string {
  const bytes = Buffer.from(publicKey.split(' ')[1] ?? '', 'base64')
  return `SHA256:${createHash('sha256').update(bytes).digest('base64').replace(/=+$/, '')}`
}
