import type { Key, Signature } from 'openpgp'

export interface PgpCheck {
  /** More than one signature over the same bytes: nobody can say which one counts. */
  readonly several: boolean
  /** Made by a key of the block, which was good at that time. */
  readonly valid: boolean
  /** The key that the signature names is in the block and was revoked. */
  readonly revoked: boolean
  /** Who the key says it belongs to, as far as it signed that itself, the main one first. */
  readonly people: readonly { readonly name: string; readonly email: string }[]
}

// Loading takes time and memory: only processes that see such a signature pay for it.
const library = () => import('openpgp')

async function parse(armoured: string): Promise<Signature | undefined> {
  const { readSignature } = await library()
  try {
    const signature = await readSignature({ armoredSignature: armoured })
    // A packet that the library cannot read, of a version to come, stands among the others without what they have.
    return signature.packets.every((one) => 'issuerKeyID' in one) ? signature : undefined
  } catch {
    return undefined
  }
}

export interface PgpIssuer {
  /** 16 hex digits, upper case; missing when the signature names no key. */
  readonly keyId?: string | undefined
  /** 40 hex digits, upper case. */
  readonly fingerprint?: string | undefined
}

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex').toUpperCase()

/** Which key an armoured signature says it was made with. */
export async function readPgpIssuer(armoured: string): Promise<PgpIssuer> {
  const made = (await parse(armoured))?.packets[0]
  const fingerprint =
    made?.issuerFingerprint?.length === 20 ? hexOf(made.issuerFingerprint) : undefined
  return {
    keyId: (fingerprint?.slice(-16) ?? made?.issuerKeyID.toHex().toUpperCase()) || undefined,
    fingerprint,
  }
}

async function peopleOf(key: Key, date: Date): Promise<{ name: string; email: string }[]> {
  const primary = await key.getPrimaryUser(date).catch(() => undefined)
  const people: { name: string; email: string; isMain: boolean }[] = []
  for (const user of key.users) {
    const id = user.userID
    if (!id?.email) continue
    const isOwn = await user.verify(date).catch(() => false)
    if (isOwn !== true) continue
    people.push({ name: id.name, email: id.email, isMain: primary?.user.userID === id })
  }
  return people
    .toSorted((one, other) => Number(other.isMain) - Number(one.isMain))
    .map(({ name, email }) => ({ name, email }))
}

/** A key that was only retired or replaced still stands for what it signed before. */
async function isRevoked(key: Key, signature: Signature): Promise<boolean> {
  const made = signature.packets[0]
  const date = made?.created ?? undefined
  if (await key.isRevoked(undefined, undefined, date).catch(() => true)) return true
  const named = key.subkeys.find((subkey) => made?.issuerKeyID.equals(subkey.getKeyID()))
  const binding = named?.bindingSignatures[0]
  if (!named || !binding) return false
  return await named.isRevoked(binding, key.keyPacket, date).catch(() => true)
}

const unknown: PgpCheck = { several: false, valid: false, revoked: false, people: [] }

/** Checks an armoured detached signature over `payload` with an armoured public key block, if there is one. */
export async function verifyPgpSignature(
  armoured: string,
  payload: Buffer,
  keyBlock: string | undefined,
): Promise<PgpCheck> {
  const { createMessage, readKey, verify } = await library()
  const signature = await parse(armoured)
  const several = (signature?.packets.length ?? 0) > 1
  const key =
    keyBlock === undefined
      ? undefined
      : await readKey({ armoredKey: keyBlock }).catch(() => undefined)
  if (!signature || !key) return { ...unknown, several }
  const revoked = await isRevoked(key, signature)
  const people = await peopleOf(key, signature.packets[0]?.created ?? new Date())
  const message = await createMessage({ binary: new Uint8Array(payload) })
  const { signatures } = await verify({
    message,
    signature,
    verificationKeys: key,
    format: 'binary',
  })
  const valid = await (signatures[0]?.verified ?? Promise.resolve(false)).catch(() => false)
  return { several, revoked, people, valid: valid && !several }
}
