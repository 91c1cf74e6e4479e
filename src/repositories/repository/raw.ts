import type { Readable } from 'node:stream'
import { streamBlob } from '../../git/objects/blob.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import type { ByteRange } from '../../http/byte-range.ts'
import { answerDownload, isKnown } from '../../http/conditional-file.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'

/** Browsers must neither keep nor interpret what a repository holds (docs/contract/B-resolved §1.2). */
const rawHeaders: Readonly<Record<string, string>> = {
  'Cache-Control': 'max-age=0, private, must-revalidate, no-store, no-cache',
  Pragma: 'no-cache',
  Expires: 'Fri, 01 Jan 1990 00:00:00 GMT',
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "sandbox; default-src 'none'",
  'Accept-Ranges': 'bytes',
}

/** How much of a file shows whether it is text; git looks at as much. */
const SNIFFED = 8000

/**
 * The bytes of a blob, whole or the range that the request asks for. Large ones are never in memory as a whole; text
 * goes out as plain text, everything else as an octet stream. `more` are headers of the caller's own; `admit` may
 * refuse the size, `typeOf` give another type by the first bytes.
 */
export async function answerBlob(
  repo: Repo,
  id: ObjectId,
  request: RequestFacts,
  more: Readonly<Record<string, string>>,
  admit: (size: number) => void = () => {},
  typeOf: (start: Buffer) => string = plainTypeOf,
): Promise<Bytes> {
  const etag = `"${id}"`
  const headers = { ...rawHeaders, ETag: etag, ...more }
  if (isKnown(request.headers, etag)) return { status: 304, body: '', type: 'text/plain', headers }
  if (request.method !== 'HEAD' && request.headers.range === undefined) {
    return await answerWhole({ repo, id, request, headers, admit, typeOf })
  }
  const head = await streamBlob(repo, id, { start: 0, end: SNIFFED - 1 }, request.signal)
  const { size } = head
  const type = typeOf(await peek(head.body))
  head.body.destroy()
  const open = async (range: ByteRange | undefined) => {
    admit(size)
    return (await streamBlob(repo, id, range, request.signal)).body
  }
  return await answerDownload(request, { size, etag, type, headers, open })
}

interface Wanted {
  readonly repo: Repo
  readonly id: ObjectId
  readonly request: RequestFacts
  readonly headers: Readonly<Record<string, string>>
  readonly admit: (size: number) => void
  readonly typeOf: (start: Buffer) => string
}

/** What most readers ask for takes one look at the blob. */
async function answerWhole({ repo, id, request, headers, admit, typeOf }: Wanted): Promise<Bytes> {
  const { size, body, content } = await streamBlob(repo, id, {}, request.signal)
  if (content) {
    admit(size)
    return { body: content, type: typeOf(content.subarray(0, SNIFFED)), headers }
  }
  try {
    admit(size)
  } catch (error) {
    body.destroy()
    throw error
  }
  const type = typeOf(await peek(body))
  return { body, type, headers: { ...headers, 'Content-Length': String(size) } }
}

/** The first bytes of a stream, which stay in it. */
async function peek(body: Readable): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const stop = () => {
      body.off('error', reject)
      body.off('end', stop)
      const chunk: Buffer | null = body.read()
      if (chunk) body.unshift(chunk)
      resolve(chunk?.subarray(0, SNIFFED) ?? Buffer.alloc(0))
    }
    body.once('error', reject)
    body.once('end', stop)
    body.once('readable', stop)
  })
}

/** Text as plain text, everything else as bytes. */
export function plainTypeOf(start: Buffer): string {
  if (start.includes(0)) return 'application/octet-stream'
  return isUtf8(start) ? 'text/plain; charset=utf-8' : 'text/plain'
}

function isUtf8(start: Buffer): boolean {
  try {
    // A character may be cut at the end.
    new TextDecoder('utf-8', { fatal: true }).decode(start, { stream: true })
    return true
  } catch {
    return false
  }
}
