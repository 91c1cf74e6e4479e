import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'

/** scrypt costs: 32 MiB and some 60 ms of one core for each try. */
const COST = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 }
const KEY_BYTES = 32

function derive(password: string, salt: Buffer, cost: typeof COST): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, KEY_BYTES, cost, (error, key) => {
      if (error) reject(error)
      else resolve(key)
    })
  })
}

/** The form in which a password is stored: `scrypt$N$r$p$salt$key`, base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, COST)
  return [
    'scrypt',
    COST.N,
    COST.r,
    COST.p,
    salt.toString('base64url'),
    key.toString('base64url'),
  ].join('$')
}

/** A hash of no password: verifying against it takes as long as against a real one. */
const NOBODY = `scrypt$${COST.N}$${COST.r}$${COST.p}$${'A'.repeat(22)}$${'A'.repeat(43)}`

/**
 * Whether the password is the one that was hashed. A null hash (no such user, or no password) takes as long as a real
 * one and is false, so that time does not reveal which users exist.
 */
export async function verifyPassword(password: string, hash: string | null): Promise<boolean> {
  const [kind, n, r, p, salt, key] = (hash ?? NOBODY).split('$')
  if (kind !== 'scrypt' || !salt || !key) return false
  const cost = { ...COST, N: Number(n), r: Number(r), p: Number(p) }
  const derived = await derive(password, Buffer.from(salt, 'base64url'), cost)
  const expected = Buffer.from(key, 'base64url')
  return expected.length === derived.length && timingSafeEqual(expected, derived) && hash !== null
}
