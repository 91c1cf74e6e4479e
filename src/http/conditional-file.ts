import { Readable } from 'node:stream'
import { type ByteRange, readRange } from './byte-range.ts'
import type { Bytes, RequestFacts } from './endpoint.ts'

/** Something that can be downloaded whole or in part. */
export interface Download {
  readonly size: number
  /** In quotes, as it goes to the wire. */
  readonly etag: string
  readonly type: string
  readonly headers?: Readonly<Record<string, string>>
  open(range?: ByteRange): Promise<Readable>
}

type Asked = Pick<RequestFacts, 'method' | 'headers'>

/** The answer to a download: whole, the range that is asked for, only the headers (HEAD), or 304 for what is known. */
export async function answerDownload(request: Asked, file: Download): Promise<Bytes> {
  const { etag, size, type } = file
  const headers = { 'Accept-Ranges': 'bytes', ...file.headers, ETag: etag }
  const none = () => Readable.from([], { objectMode: false })
  if (isKnown(request.headers, etag)) return { status: 304, body: '', type, headers }
  const whole = { ...headers, 'Content-Length': String(size) }
  if (request.method === 'HEAD') return { body: none(), type, headers: whole }
  const range = readRange(request.headers, size, etag)
  if (range === 'whole') return { body: await file.open(), type, headers: whole }
  if (range === 'unsatisfiable') {
    const refusal = { ...headers, 'Content-Range': `bytes */${size}` }
    return { status: 416, body: '', type, headers: refusal }
  }
  const part = {
    ...headers,
    'Content-Length': String(range.end - range.start + 1),
    'Content-Range': `bytes ${range.start}-${range.end}/${size}`,
  }
  return { status: 206, body: await file.open(range), type, headers: part }
}

/** Whether the client says by `If-None-Match` that it has this very version. */
export function isKnown(headers: RequestFacts['headers'], etag: string): boolean {
  const given = headers['if-none-match']
  if (typeof given !== 'string') return false
  const weak = (tag: string) => tag.trim().replace(/^W\//, '')
  return given.trim() === '*' || given.split(',').some((tag) => weak(tag) === weak(etag))
}
