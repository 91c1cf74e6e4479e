import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Ctx } from '../../ctx.ts'
import { readCookie, setCookie } from '../../http/credentials/cookies.ts'
import type { RequestFacts } from '../../http/endpoint.ts'

/**
 * What makes a form ours: a hidden field that only a page of ours can hold, since it is made of two cookies that no
 * foreign page reads (docs/faults: forged requests).
 */
export interface FormToken {
  /** The value of the hidden field. */
  readonly token: string
  /** What the browser's cookie holds: it stands for the browser, and is in no page. */
  readonly secret: string
  /** Headers of the page that holds the form. */
  readonly headers: Readonly<Record<string, string>>
}

function tokenOf(ctx: Ctx, request: Pick<RequestFacts, 'headers'>, secret: string): string {
  const session = readCookie(ctx, request, 'session') ?? 'nobody'
  return createHash('sha256').update(`form ${secret} ${session}`).digest('base64url')
}

export function makeFormToken(ctx: Ctx, request: Pick<RequestFacts, 'headers'>): FormToken {
  const known = readCookie(ctx, request, 'form')
  const secret = known ?? randomBytes(32).toString('base64url')
  const token = tokenOf(ctx, request, secret)
  return {
    token,
    secret,
    headers: known === undefined ? { 'Set-Cookie': setCookie(ctx, 'form', secret) } : {},
  }
}

/** Whether the sent field is the one of a page that we gave this browser. */
export function isOurForm(
  ctx: Ctx,
  request: Pick<RequestFacts, 'headers'>,
  sent: string | undefined,
): boolean {
  const secret = readCookie(ctx, request, 'form')
  if (secret === undefined || sent === undefined) return false
  if (request.headers['sec-fetch-site'] === 'cross-site') return false
  const expected = Buffer.from(tokenOf(ctx, request, secret))
  const given = Buffer.from(sent)
  return expected.length === given.length && timingSafeEqual(expected, given)
}
