import type { OutboundRequest, OutboundResponse } from '../../base/outbound/outbound.ts'
import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { askUrl, type Headers, headersOf, isGood } from '../upstreams/ask.ts'
import { roomOf } from './fit.ts'
import type { UpstreamAddress } from './upstream.ts'

const HEAD_MS = 5000
const GET_MS = 3_600_000
const MOST_BYTES = 5 * 1024 * 1024 * 1024

/** Asks an upstream for a path, with its credentials. */
export async function askUpstream(
  ctx: Pick<Ctx, 'outbound' | 'config'>,
  upstream: UpstreamAddress,
  path: string,
  method: 'GET' | 'HEAD',
  limits: Pick<OutboundRequest, 'timeoutMs' | 'maxSize'> = {},
): Promise<OutboundResponse> {
  const encoded = path.split('/').map(encodeURIComponent).join('/')
  const { username, password } = upstream
  const pair = Buffer.from(`${username}:${password}`).toString('base64')
  return await askUrl(ctx, `${upstream.url}/${encoded}`, {
    method,
    headers: username === null ? {} : { Authorization: `Basic ${pair}` },
    timeoutMs: method === 'HEAD' ? HEAD_MS : GET_MS,
    maxSize: Math.min(MOST_BYTES, roomOf(ctx)),
    raw: true,
    ...limits,
  })
}

/** Whether people are asked to sign in, or get an error, where a file was asked for. */
export function isPage(headers: Headers, path: string): boolean {
  return isGood(headers) && /^text\/html\b/i.test(headers.type) && !/\.html?$/i.test(path)
}

/**
 * Only the headers; nothing when the upstream cannot be reached, or has a page for people instead of the file. What is lost on the way, such as one question for its
 * address among many, is asked once more.
 */
export async function headOf(
  ctx: Pick<Ctx, 'outbound' | 'config'>,
  upstream: UpstreamAddress,
  path: string,
  isSecond = false,
): Promise<Headers | undefined> {
  try {
    const response = await askUpstream(ctx, upstream, path, 'HEAD')
    response.body.destroy()
    const headers = headersOf(response)
    return isPage(headers, path) ? undefined : headers
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error
    const isLost = error.reason === 'timeout' && !isSecond
    return isLost ? await headOf(ctx, upstream, path, true) : undefined
  }
}

/** Whether an upstream answers, as its owners see it (docs/contract/C-resolved §4.1). */
export async function testUpstream(
  ctx: Pick<Ctx, 'outbound' | 'config'>,
  upstream: UpstreamAddress,
  path: string | undefined,
): Promise<{ success: boolean; result?: string }> {
  try {
    const wanted = path ?? 'com/company/app/maven-metadata.xml'
    const response = await askUpstream(ctx, upstream, wanted, 'HEAD')
    response.body.destroy()
    const { status } = response
    if ((status >= 200 && status < 300) || status === 404) return { success: true }
    return { success: false, result: `Error: ${status} - ${reasons[status] ?? 'Refused'}` }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    return { success: false, result: `Error: ${error.message}` }
  }
}

const reasons: Readonly<Record<number, string>> = {
  401: 'Unauthorized',
  403: 'Forbidden',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
}
