import { Readable } from 'node:stream'
import type { Ctx } from '../../ctx.ts'
import { readRange } from '../../http/byte-range.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'

const type = 'application/octet-stream'

/**
 * The bytes of a large file, whole or the range that the request asks for: downloads that broke off go on where they
 * stopped. Undefined when the store of files lost it.
 */
export async function answerLargeFile(
  ctx: Pick<Ctx, 'files'>,
  oid: string,
  request: Pick<RequestFacts, 'method' | 'headers'>,
  more: Readonly<Record<string, string>> = {},
): Promise<Bytes | undefined> {
  const size = await ctx.files.sizeOf(oid)
  if (size === undefined) return undefined
  const tag = `"${oid}"`
  const headers = {
    'Cache-Control': 'private, max-age=0, must-revalidate',
    'X-Content-Type-Options': 'nosniff',
    'Content-Security-Policy': "sandbox; default-src 'none'",
    'Accept-Ranges': 'bytes',
    ...more,
    ETag: tag,
  }
  const empty = () => Readable.from([], { objectMode: false })
  if (request.method === 'HEAD') {
    return { body: empty(), type, headers: { ...headers, 'Content-Length': String(size) } }
  }
  const range = readRange(request.headers, size, tag)
  if (range === 'unsatisfiable') {
    const refusal = { ...headers, 'Content-Range': `bytes */${size}` }
    return { status: 416, body: '', type, headers: refusal }
  }
  if (range === 'whole') {
    const { body } = await ctx.files.open(oid)
    return { body, type, headers: { ...headers, 'Content-Length': String(size) } }
  }
  const { body } = await ctx.files.open(oid, range)
  return {
    status: 206,
    body,
    type,
    headers: {
      ...headers,
      'Content-Length': String(range.end - range.start + 1),
      'Content-Range': `bytes ${range.start}-${range.end}/${size}`,
    },
  }
}
