import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'

/** Cookies that we know: who is signed in, and which forms are ours. */
export type CookieName = 'session' | 'form'

function nameOf(ctx: Pick<Ctx, 'config'>, name: CookieName): string {
  return `_${ctx.config.vendor.prefix}_${name}`
}

/** The value of one of our cookies. */
export function readCookie(
  ctx: Pick<Ctx, 'config'>,
  request: Pick<RequestFacts, 'headers'>,
  name: CookieName,
): string | undefined {
  const header = request.headers.cookie
  const wanted = `${nameOf(ctx, name)}=`
  const found = String(header ?? '')
    .split(/;\s*/)
    .find((pair) => pair.startsWith(wanted))
  const value = found?.slice(wanted.length)
  return value !== undefined && /^[\w-]{43}$/.test(value) ? value : undefined
}

/** A `Set-Cookie` value; without `value` the cookie is taken back. No script reads it, no foreign page sends it. */
export function setCookie(ctx: Pick<Ctx, 'config'>, name: CookieName, value?: string): string {
  const secure = ctx.config.externalUrl.startsWith('https:') ? '; Secure' : ''
  const end = value === undefined ? '; Max-Age=0' : ''
  return `${nameOf(ctx, name)}=${value ?? ''}; Path=/; HttpOnly; SameSite=Lax${secure}${end}`
}
