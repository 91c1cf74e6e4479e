import type { Instant } from '../../base/clock.ts'
import type { Vault } from '../../store/vault.ts'

/** What stands in a token that a client was given: the secret it signed in with, sealed. */
interface Contents {
  readonly secret: string
  readonly expires: number
}

/** For which protocol a token was given; no other takes it. */
export type TokenPurpose = 'conan' | 'container_registry' | 'git_lfs' | 'terraform_module'

const MARK = 'svct-'
const MOST = 8192

interface Sealing {
  readonly vault: Vault
  now(): Instant
}

/**
 * A token that stands for a client's secret for a while, in one protocol. The secret is looked up each time the token is
 * used, so that it ends with the secret.
 */
export function issueClientToken(
  given: Sealing,
  secret: string,
  options: { readonly purpose: TokenPurpose; readonly seconds: number },
): string {
  const expires = Date.parse(given.now()) + options.seconds * 1000
  const contents: Contents = { secret, expires }
  const sealed = given.vault.seal(JSON.stringify(contents), `client_token.${options.purpose}`)
  return MARK + Buffer.from(sealed.replace(/^v1:/, ''), 'base64').toString('base64url')
}

/** The secret behind a token that was given for this purpose; nothing when it is none, or over. */
export function openClientToken(
  given: Sealing,
  token: string,
  purpose: TokenPurpose,
): string | undefined {
  if (!token.startsWith(MARK) || token.length > MOST) return undefined
  const sealed = Buffer.from(token.slice(MARK.length), 'base64url').toString('base64')
  try {
    const text = given.vault.open(`v1:${sealed}`, `client_token.${purpose}`)
    const { secret, expires } = JSON.parse(text) as Contents // sealed by us
    return expires > Date.parse(given.now()) ? secret : undefined
  } catch {
    return undefined
  }
}
