import type { Config } from '../../../base/config.ts'
import type { SecurityKeyRow } from './queries.ts'

/** Who asks: browsers hold keys to the host name, and let no address take its place. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

/** Undefined where people reach the server by an address or without TLS: browsers know no keys there. */
export function relyingParty({
  externalUrl,
}: Pick<Config, 'externalUrl'>): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(externalUrl)
  const isAddress = /^[\d.]+$|^\[/.test(hostname)
  const isSafe = protocol === 'https:' || hostname === 'localhost'
  return isAddress || !isSafe ? undefined : { id: hostname, origin }
}

/** Ed25519, P-256 and RSA with SHA-256. */
const ALGORITHMS = [-8, -7, -257]
const TIMEOUT_MS = 5 * 60_000

type Known = Pick<SecurityKeyRow, 'credential_id' | 'transports'>

function described({ credential_id, transports }: Known) {
  // Written by us as a JSON list of words.
  return { type: 'public-key', id: credential_id, transports: JSON.parse(transports) as string[] }
}

/** What a key keeps to know its owner by. */
export function userHandleOf(userId: number): string {
  return Buffer.from(String(userId)).toString('base64url')
}

/** What a browser needs to make a key for a user; their own keys make no second. */
export function creationOptions(
  party: RelyingParty,
  user: { readonly id: number; readonly username: string; readonly name: string },
  challenge: string,
  known: readonly Known[],
) {
  return {
    rp: { id: party.id, name: party.id },
    user: { id: userHandleOf(user.id), name: user.username, displayName: user.name },
    challenge,
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: 'public-key', alg })),
    timeout: TIMEOUT_MS,
    excludeCredentials: known.map(described),
    authenticatorSelection: { residentKey: 'preferred', userVerification: 'preferred' },
    attestation: 'none',
    extensions: { credProps: true },
  }
}

/** What a browser needs to ask for a key: one of these, or of whoever's, which then must ask for a PIN or a finger. */
export function requestOptions(party: RelyingParty, challenge: string, known: readonly Known[]) {
  return {
    rpId: party.id,
    challenge,
    timeout: TIMEOUT_MS,
    allowCredentials: known.map(described),
    userVerification: known.length === 0 ? 'required' : 'preferred',
  }
}
