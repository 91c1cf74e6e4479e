import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { later } from '../../base/clock.ts'
import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import { badRequest, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { flushLater, inTransaction } from '../../store/transaction.ts'
import { answerFetched, checksumHeaders, safeHeaders } from '../upstreams/answer.ts'
import { gatewayProblem, type Headers, isGood } from '../upstreams/ask.ts'
import { askUpstream, headOf } from './ask.ts'
import {
  type EntryRow,
  findEntry,
  listEntriesAt,
  saveChecked,
  saveDownload,
} from './entry-queries.ts'
import { fetchOnce, isRunning } from './fetch.ts'
import { listLinks, type RegistryRow, type UpstreamRow } from './queries.ts'
import { addressOf } from './upstream.ts'

const HOUR_MS = 3_600_000
const PARALLEL = 3
/** An upstream may send gigabytes where a digest was asked for, and they would be read into memory. */
const DIGEST = { maxSize: 1024, timeoutMs: 10_000 }

/** Metadata changes: a digest of any kind must be of what is here, and not be kept by itself. */
const DIGEST_OF = /^(.+)\.(sha1|md5|(?<=maven-metadata\.xml\.)sha(?:256|512))$/

/** The signal of nobody who waits. */
const nobody = AbortSignal.abort()

type Asked = Pick<RequestFacts, 'method' | 'headers' | 'signal'>

/** Refuses paths that lead elsewhere than to a file of a repository. */
export function readPath(path: string): string {
  const parts = path.split('/')
  const isWrong = (part: string) =>
    part === '' || part === '.' || part === '..' || /[\\\0]/.test(part)
  if (path.length > 1024 || parts.some(isWrong)) throw badRequest('path is invalid')
  return path
}

/** The file at a path of a registry: from what was fetched, or from the first upstream that has it. */
export async function serveFile(
  ctx: Ctx,
  registry: RegistryRow,
  path: string,
  request: Asked,
): Promise<Bytes> {
  if (request.headers['sec-fetch-mode'] === 'navigate') {
    throw badRequest('the virtual registry is not for web browsers')
  }
  const upstreams = await listLinks(ctx.db, registry.id)
  if (upstreams.length === 0) throw badRequest('No upstreams set')
  const [, base, kind] = DIGEST_OF.exec(path) ?? []
  if (base !== undefined && kind !== undefined) {
    return serveDigest(ctx, upstreams, { base, kind, signal: request.signal })
  }
  const entry = await usableEntry(ctx, upstreams, path, request.signal)
  if (entry) return answerEntry(ctx, entry, request)
  return serveMissing(ctx, upstreams, path, request)
}

/** A file that is here and fresh; one that is stale is asked about first, and kept while its upstream is away. */
async function usableEntry(
  ctx: Ctx,
  upstreams: readonly UpstreamRow[],
  path: string,
  signal: AbortSignal,
): Promise<EntryRow | undefined> {
  const found = await listEntriesAt(
    ctx.db,
    upstreams.map((one) => one.id),
    path,
  )
  for (const upstream of upstreams) {
    const entry = found.find((one) => one.upstream_id === upstream.id)
    if (!entry || !(await isHere(ctx, entry))) continue
    if (isFresh(ctx, upstream, entry)) return entry
    return await refreshed(ctx, upstream, entry, signal)
  }
  return undefined
}

/** Whether the bytes of a file are in the store; where they were lost, it is fetched again. */
async function isHere({ files }: Pick<Ctx, 'files'>, entry: EntryRow): Promise<boolean> {
  return (await files.sizeOf(entry.file_sha256)) === entry.size
}

function isFresh(ctx: Pick<Ctx, 'now'>, upstream: UpstreamRow, entry: EntryRow): boolean {
  const isMetadata = entry.relative_path.endsWith('maven-metadata.xml')
  const hours = isMetadata ? upstream.metadata_cache_validity_hours : upstream.cache_validity_hours
  return hours === 0 || entry.upstream_checked_at > later(ctx.now(), -hours * HOUR_MS)
}

async function refreshed(
  ctx: Ctx,
  upstream: UpstreamRow,
  entry: EntryRow,
  signal: AbortSignal,
): Promise<EntryRow> {
  const head = await headOf(ctx, addressOf(ctx, upstream), entry.relative_path)
  if (!isGood(head)) return entry
  // Another request may have fetched it while its upstream was asked.
  if (!isRunning(upstream, entry.relative_path)) {
    const current = await findEntry(ctx.db, upstream.id, entry.relative_path)
    if (current && isFresh(ctx, upstream, current)) return current
  }
  if (head.etag !== null && head.etag === entry.upstream_etag) {
    await saveChecked(ctx.db, entry.id, ctx.now())
    return entry
  }
  try {
    const { transfer, isFirst } = await fetchOnce(ctx, upstream, entry.relative_path, signal)
    if (isFirst) transfer.body.resume()
    return await transfer.stored
  } catch (error) {
    if (error instanceof OutboundError) return entry
    throw error
  }
}

async function answerEntry(ctx: Ctx, entry: EntryRow, request: Asked): Promise<Bytes> {
  if (request.method === 'GET') {
    await inTransaction(ctx, async ({ db, now }) => {
      await saveDownload(db, entry.id, now())
      await flushLater(db)
    })
  }
  return await answerFetched(ctx, entry, entry.relative_path, request)
}

async function serveMissing(
  ctx: Ctx,
  upstreams: readonly UpstreamRow[],
  path: string,
  request: Asked,
): Promise<Bytes> {
  const { upstream, head } = await findUpstreamWith(ctx, upstreams, path)
  if (request.method === 'HEAD') return emptyAnswer(head, path)
  // It may have come while its upstream was asked.
  const entry = isRunning(upstream, path) ? undefined : await findEntry(ctx.db, upstream.id, path)
  if (entry && (await isHere(ctx, entry))) return answerEntry(ctx, entry, request)
  const { transfer, isFirst } = await fetchOrFail(ctx, upstream, path, request.signal)
  const sums = isFirst ? await sumsBefore(ctx, upstream, path, transfer.headers) : undefined
  if (!sums) {
    if (isFirst) transfer.body.resume()
    return answerEntry(ctx, await storedOrFail(transfer.stored), request)
  }
  const { length, type } = transfer.headers
  transfer.stored
    .then(
      (entry) => saveDownload(ctx.db, entry.id, ctx.now()),
      () => {},
    )
    .catch(() => {})
  const size: Record<string, string> =
    length === undefined ? {} : { 'Content-Length': String(length) }
  const headers = { ...safeHeaders(path), ...checksumHeaders(sums), ...size }
  return { body: transfer.body, type, headers }
}

/** A file of so many bytes is here before a client gives up waiting. */
const SOON_BYTES = 8 * 1024 * 1024

/**
 * The hashes of a file that is on its way, as its upstream says them with it or beside it; nothing where it is better to
 * wait for the file, or no other way to know them.
 */
async function sumsBefore(
  ctx: Ctx,
  upstream: UpstreamRow,
  path: string,
  { sums, length }: Headers,
): Promise<Headers['sums'] | undefined> {
  if (sums.sha1 !== undefined && sums.md5 !== undefined) return sums
  if (length !== undefined && length <= SOON_BYTES) return undefined
  const [sha1, md5] = await Promise.all([
    sums.sha1 ?? sumBeside(ctx, upstream, `${path}.sha1`, /\b[0-9a-f]{40}\b/),
    sums.md5 ?? sumBeside(ctx, upstream, `${path}.md5`, /\b[0-9a-f]{32}\b/),
  ])
  return sha1 === undefined || md5 === undefined ? undefined : { sha1, md5 }
}

/** The hash in a file beside another one, with or without the name of that. */
async function sumBeside(
  ctx: Ctx,
  upstream: UpstreamRow,
  path: string,
  form: RegExp,
): Promise<string | undefined> {
  try {
    const text = (await readSmall(ctx, upstream, path)).toString('latin1')
    return form.exec(text.toLowerCase())?.[0]
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

function emptyAnswer(head: Headers, path: string): Bytes {
  const size: Record<string, string> =
    head.length === undefined ? {} : { 'Content-Length': String(head.length) }
  const body = Readable.from([], { objectMode: false })
  const headers = { ...safeHeaders(path), ...checksumHeaders(head.sums), ...size }
  return { body, type: head.type, headers }
}

async function fetchOrFail(ctx: Ctx, upstream: UpstreamRow, path: string, signal: AbortSignal) {
  try {
    return await fetchOnce(ctx, upstream, path, signal)
  } catch (error) {
    throw gatewayProblem(error)
  }
}

async function storedOrFail(stored: Promise<EntryRow>): Promise<EntryRow> {
  try {
    return await stored
  } catch (error) {
    throw gatewayProblem(error)
  }
}

/** The first upstream in order that has a path; some are asked at once. */
async function findUpstreamWith(
  ctx: Ctx,
  upstreams: readonly UpstreamRow[],
  path: string,
): Promise<{ readonly upstream: UpstreamRow; readonly head: Headers }> {
  let isAway = false
  for (let at = 0; at < upstreams.length; at += PARALLEL) {
    const some = upstreams.slice(at, at + PARALLEL)
    const asked = some.map((upstream) => headOf(ctx, addressOf(ctx, upstream), path))
    // An earlier one may have the file: then nobody waits for the others, which must not end the process.
    for (const one of asked) one.catch(() => {})
    for (const [index, upstream] of some.entries()) {
      const head = await asked[index]
      if (isGood(head)) return { upstream, head }
      isAway ||= head === undefined
    }
  }
  if (isAway) throw badRequest('Upstream not available')
  const message = '404 File not found on any upstream Not Found'
  throw new Problem('not_found', 404, { message })
}

/** The hash of a file that is here, else what an upstream says; the file itself is then fetched for the next one. */
async function serveDigest(
  ctx: Ctx,
  upstreams: readonly UpstreamRow[],
  { base, kind, signal }: { base: string; kind: string; signal: AbortSignal },
): Promise<Bytes> {
  const path = `${base}.${kind}`
  const entry = await usableEntry(ctx, upstreams, base, signal)
  if (entry) {
    const body = await digestOf(ctx, entry, kind)
    return { body, type: 'text/plain', headers: safeHeaders(path) }
  }
  const { upstream } = await findUpstreamWith(ctx, upstreams, path)
  const body = await readSmall(ctx, upstream, path)
  fetchOnce(ctx, upstream, base, nobody)
    .then(({ transfer, isFirst }) => isFirst && transfer.body.resume())
    .catch(() => {})
  return { body, type: 'text/plain', headers: safeHeaders(path) }
}

async function digestOf(ctx: Ctx, entry: EntryRow, kind: string): Promise<string> {
  if (kind === 'sha1') return entry.file_sha1
  if (kind === 'md5') return entry.file_md5
  if (kind === 'sha256') return entry.file_sha256
  const hash = createHash(kind)
  await pipeline((await ctx.files.open(entry.file_sha256)).body, hash)
  return hash.digest('hex')
}

async function readSmall(ctx: Ctx, upstream: UpstreamRow, path: string): Promise<Buffer> {
  try {
    const response = await askUpstream(ctx, addressOf(ctx, upstream), path, 'GET', DIGEST)
    if (response.status !== 200) {
      response.body.destroy()
      throw new OutboundError('unreachable', 'the upstream refused')
    }
    return await response.read()
  } catch (error) {
    throw gatewayProblem(error)
  }
}
