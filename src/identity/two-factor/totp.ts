import { Secret, TOTP } from 'otpauth'
import type { Instant } from '../../base/clock.ts'

/** What every authenticator app knows: six digits for half a minute, by SHA-1 (RFC 6238). */
const KIND = { algorithm: 'SHA1', digits: 6, period: 30 }
/** The code before and the one after count too, since clocks of telephones are not exact. */
const WINDOW = 1

/** A new secret, in base32 as people type it. */
export function newTotpSecret(): string {
  return new Secret({ size: 20 }).base32
}

function totpOf(secret: string, label = '', issuer = ''): TOTP {
  return new TOTP({ ...KIND, secret: Secret.fromBase32(secret), label, issuer })
}

/** What an app reads from the picture: the secret, and where and for whom it is. */
export function totpUri(secret: string, username: string, externalUrl: string): string {
  const { host } = new URL(externalUrl)
  return totpOf(secret, username, host).toString()
}

/** The time step of a code that is right now; undefined for a wrong one. */
export function stepOf(secret: string, code: string, now: Instant): number | undefined {
  const timestamp = Date.parse(now)
  const delta = totpOf(secret).validate({ token: code, timestamp, window: WINDOW })
  return delta === null ? undefined : Math.floor(timestamp / 1000 / KIND.period) + delta
}
