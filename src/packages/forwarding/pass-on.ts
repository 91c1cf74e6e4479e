import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import type { Ctx } from '../../ctx.ts'
import { askUrl } from '../upstreams/ask.ts'
import { type ForwardedType, rootOf } from './forward.ts'

const TIMEOUT_MS = 10_000
const MOST_BYTES = 16 * 1024 * 1024

/** What the public registry answers to a JSON body, if it does. */
export async function passOn(
  ctx: Pick<Ctx, 'config' | 'outbound'>,
  type: ForwardedType,
  path: string,
  body: Buffer,
): Promise<unknown> {
  try {
    const response = await askUrl(ctx, `${rootOf(ctx, type)}/${path}`, {
      method: 'POST',
      body,
      headers: { 'Content-Type': 'application/json', 'Accept-Encoding': 'gzip' },
      timeoutMs: TIMEOUT_MS,
      maxSize: MOST_BYTES,
    })
    const text = (await response.read()).toString()
    return response.status === 200 ? JSON.parse(text) : undefined
  } catch (error) {
    if (error instanceof OutboundError || error instanceof SyntaxError) return undefined
    throw error
  }
}
