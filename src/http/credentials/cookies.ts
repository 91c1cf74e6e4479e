import type { Config } from '../../base/config.ts'
import type { RequestFacts } from '../endpoint.ts'

/**
 * Cookies that we know: who is signed in, which forms are ours, what the next page shows, how a person likes pages, and which
 * messages they want to see no more.
 */
export type CookieName = 'session' | 'form' | 'flash' | 'view' | 'dismissed'

interface HasConfig {
  readonly config: Pick<Config, 'vendor' | 'externalUrl'>
}

const SECRET = /^[\w-]{43}$/
/** Longest values: a flash message and what a person chose to see are short texts. */
const shapes: Readonly<Record<CookieName, RegExp>> = {
  session: SECRET,
  form: SECRET,
  flash: /^[\w-]{1,2000}$/,
  view: /^[\w.=-]{1,200}$/,
  dismissed: /^[\d.]{1,500}$/,
}

/** Under TLS no other name of the domain can plant the cookie: browsers hold `__Host-` to that. */
function nameOf({ config }: HasConfig, name: CookieName): string {
  const prefix = isSecure(config.externalUrl) ? '__Host-' : ''
  return `${prefix}_${config.vendor.prefix}_${name}`
}

function isSecure(externalUrl: string): boolean {
  return externalUrl.startsWith('https:')
}

/** The value of one of our cookies. */
export function readCookie(
  ctx: HasConfig,
  request: Pick<RequestFacts, 'headers'>,
  name: CookieName,
): string | undefined {
  const header = request.headers.cookie
  const wanted = `${nameOf(ctx, name)}=`
  const found = String(header ?? '')
    .split(/;\s*/)
    .find((pair) => pair.startsWith(wanted))
  const value = found?.slice(wanted.length)
  return value !== undefined && shapes[name].test(value) ? value : undefined
}

/**
 * A `Set-Cookie` value; without `value` the cookie is taken back. No script reads it, no foreign page sends it. With
 * `seconds` it outlives the browser's session.
 */
export function setCookie(
  ctx: HasConfig,
  name: CookieName,
  value?: string,
  seconds?: number,
): string {
  const secure = isSecure(ctx.config.externalUrl) ? '; Secure' : ''
  const age = value === undefined ? 0 : seconds
  const end = age === undefined ? '' : `; Max-Age=${age}`
  return `${nameOf(ctx, name)}=${value ?? ''}; Path=/; HttpOnly; SameSite=Lax${secure}${end}`
}
