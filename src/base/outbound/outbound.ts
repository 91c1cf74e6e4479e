import { isIP, type LookupFunction } from 'node:net'
import { PassThrough, pipeline, type Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { productVersion } from '../version.ts'
import type { Resolve } from './look-up.ts'
import { makeGuard, OutboundError, type OutboundGuard, type Reach } from './outbound-guard.ts'

export interface OutboundRequest extends Reach {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** A stream is read once: it goes with no redirects. */
  readonly body?: string | Uint8Array | Readable
  /** Redirects that are followed; each is checked like the first URL. */
  readonly redirects?: number
  readonly maxSize?: number
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
  /** Leave a compressed answer as it is. */
  readonly raw?: boolean
  /** Certificate checks off, where a hook's owner asked for that. */
  readonly insecure?: boolean
}

export interface OutboundResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** Where the answer came from in the end. */
  readonly url: string
  /** Ends with an error when the answer is too large, too slow or cut short. Must be read or destroyed. */
  readonly body: Readable
  /** The whole body. */
  read(): Promise<Buffer>
}

/** The only way in which this server asks another one. */
export interface Outbound extends OutboundGuard {
  request(url: string | URL, options?: OutboundRequest): Promise<OutboundResponse>
}

export interface OutboundOptions {
  readonly allow: readonly string[]
  readonly allowedNow?: () => readonly string[]
  readonly proxy?: string | undefined
  readonly timeoutMs: number
  readonly maxSize: number
  readonly resolve?: Resolve
}

/** Headers that say who asks: they stay with the host that they were meant for. */
const secretHeaders = new Set([
  'authorization',
  'cookie',
  'private-token',
  'job-token',
  'deploy-token',
])

const redirectStatuses = new Set([301, 302, 303, 307, 308])

export function makeOutbound(options: OutboundOptions): Outbound {
  const proxied = options.proxy !== undefined
  const guard = makeGuard({ ...options, proxied })
  return { ...guard, request: (url, request = {}) => ask(guard, options, String(url), request) }
}

async function ask(
  guard: OutboundGuard,
  options: OutboundOptions,
  first: string,
  request: OutboundRequest,
): Promise<OutboundResponse> {
  const deadline = new AbortController()
  const timer = setTimeout(() => deadline.abort(tooSlow()), request.timeoutMs ?? options.timeoutMs)
  const signal = request.signal
    ? AbortSignal.any([deadline.signal, request.signal])
    : deadline.signal
  try {
    const { response, url } = await askStepwise(guard, options, first, request, signal)
    const given = answer(response, url, options, request, signal)
    given.body.once('close', () => clearTimeout(timer))
    return given
  } catch (error) {
    clearTimeout(timer)
    throw error
  }
}

async function askStepwise(
  guard: OutboundGuard,
  options: OutboundOptions,
  first: string,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<{ response: Dispatcher.ResponseData; url: string }> {
  let step: Step = {
    url: first,
    method: request.method ?? 'GET',
    headers: lowered(request),
    body: request.body,
  }
  for (let left = request.redirects ?? 5; ; left--) {
    const response = await exchange(guard, options, step, request, signal)
    const next = redirectOf(response)
    if (next === undefined) return { response, url: step.url }
    void response.body.dump().catch(() => {})
    if (left <= 0) throw new OutboundError('redirects', 'too many redirects')
    step = follow(step, response.statusCode, next)
  }
}

interface Step {
  readonly url: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | Readable | undefined
}

function lowered(request: OutboundRequest): Record<string, string> {
  const given = Object.entries(request.headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    value,
  ])
  return {
    'user-agent': `Gitstead/${productVersion}`,
    'accept-encoding': 'identity',
    ...Object.fromEntries(given),
  }
}

async function exchange(
  guard: OutboundGuard,
  options: OutboundOptions,
  step: Step,
  request: OutboundRequest,
  signal: AbortSignal,
): Promise<Dispatcher.ResponseData> {
  const { url, addresses } = await guard.resolve(step.url, request)
  const connection = await connect(url, addresses, options.proxy, request.insecure ?? false)
  try {
    return await connection.request({
      origin: url.origin,
      path: `${url.pathname}${url.search}`,
      // Our own callers name it.
      method: step.method as Dispatcher.HttpMethod,
      headers: { ...step.headers, ...basic(url, step.headers) },
      body: step.body ?? null,
      signal,
    })
  } catch (error) {
    throw failure(error, signal, url)
  } finally {
    // Ends with the body: each request has a connection of its own, to addresses that were checked for it.
    void connection.close().catch(() => {})
  }
}

/** The deadline of the whole request ends whatever takes too long. */
const noTimeouts = { connectTimeout: 0, headersTimeout: 0, bodyTimeout: 0 }

async function connect(
  url: URL,
  addresses: readonly string[],
  proxy: string | undefined,
  insecure: boolean,
): Promise<Dispatcher> {
  // Loaded by the first request: many servers ask no other.
  const { Client, ProxyAgent } = await import('undici')
  const tls = { rejectUnauthorized: !insecure }
  if (proxy === undefined) {
    return new Client(url.origin, {
      ...noTimeouts,
      connect: { ...tls, timeout: 0, lookup: pinned(addresses) },
    })
  }
  const { authorization: token } = basic(new URL(proxy), {})
  // The whole URL in the request line for http; https goes through a tunnel all the same.
  const plain = { uri: withoutUser(proxy), proxyTunnel: false }
  return new ProxyAgent({ ...noTimeouts, ...plain, ...(token ? { token } : {}), requestTls: tls })
}

/** Gives the addresses that were checked, whatever DNS says by now. */
function pinned(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }))
  return (_hostname, options, callback) => {
    const [one] = all
    if (options.all) callback(null, all)
    else callback(null, one?.address ?? '', one?.family)
  }
}

function withoutUser(url: string): string {
  const plain = new URL(url)
  plain.username = ''
  plain.password = ''
  return plain.href
}

function basic(
  url: URL,
  headers: Readonly<Record<string, string>>,
): { readonly authorization?: string } {
  if (url.username === '' || headers.authorization !== undefined) return {}
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

function redirectOf({ statusCode, headers }: Dispatcher.ResponseData): string | undefined {
  return redirectStatuses.has(statusCode) ? [headers.location].flat()[0] : undefined
}

function follow(step: Step, status: number, location: string): Step {
  if (!URL.canParse(location, step.url)) {
    throw new OutboundError('bad_url', 'a redirect leads nowhere')
  }
  const url = new URL(location, step.url)
  const sameHost = url.origin === new URL(step.url).origin
  const headers = sameHost
    ? step.headers
    : Object.fromEntries(Object.entries(step.headers).filter(([name]) => !secretHeaders.has(name)))
  const asGet = status === 303 || (status < 303 && step.method === 'POST')
  if (!asGet || step.method === 'HEAD') return { ...step, url: url.href, headers }
  const { 'content-type': _type, ...rest } = headers
  return { url: url.href, method: 'GET', headers: rest, body: undefined }
}

function answer(
  response: Dispatcher.ResponseData,
  url: string,
  options: OutboundOptions,
  request: OutboundRequest,
  signal: AbortSignal,
): OutboundResponse {
  const maxSize = request.maxSize ?? options.maxSize
  if (Number(response.headers['content-length'] ?? 0) > maxSize) {
    response.body.on('error', () => {}).destroy()
    throw new OutboundError('too_large', `the answer is larger than ${maxSize} bytes`)
  }
  const unpack = request.raw ? new PassThrough() : unpacker(response.headers['content-encoding'])
  const body = capped(maxSize)
  // Whoever reads gets the error; a body that nobody reads must not end the process.
  body.on('error', () => {})
  pipeline(response.body, unpack, body, () => {})
  // A pipeline passes the socket's error on; why it ended is ours to name.
  signal.addEventListener('abort', () => body.destroy(signal.reason), { once: true })
  return {
    status: response.statusCode,
    headers: response.headers,
    url,
    body,
    read: () => readAll(body, signal),
  }
}

function unpacker(encoding: string | string[] | undefined): Transform {
  switch (String(encoding).trim().toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    default:
      return new PassThrough()
  }
}

function capped(maxSize: number): Transform {
  let size = 0
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      size += chunk.byteLength
      if (size <= maxSize) done(null, chunk)
      else done(new OutboundError('too_large', `the answer is larger than ${maxSize} bytes`))
    },
  })
}

async function readAll(body: Readable, signal: AbortSignal): Promise<Buffer> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of body) chunks.push(chunk as Buffer)
    return Buffer.concat(chunks)
  } catch (error) {
    if (error instanceof OutboundError) throw error
    if (signal.aborted) throw signal.reason
    throw new OutboundError('damaged', 'the answer was cut short or is damaged')
  }
}

function tooSlow(): OutboundError {
  return new OutboundError('timeout', 'the answer took too long')
}

function failure(error: unknown, signal: AbortSignal, url: URL): Error {
  if (error instanceof OutboundError) return error
  if (signal.aborted) return signal.reason
  const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''
  return new OutboundError('unreachable', `${url.hostname} cannot be reached${code}`)
}
