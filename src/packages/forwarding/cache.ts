import { LRUCache } from 'lru-cache'
import { later } from '../../base/clock.ts'
import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import type { Ctx } from '../../ctx.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import type { StoredFile } from '../../store/files.ts'
import { flushLater, inTransaction } from '../../store/transaction.ts'
import { answerFetched, safeHeaders } from '../upstreams/answer.ts'
import { askUrl, type Headers, UnusableAnswerError, UpstreamStatusError } from '../upstreams/ask.ts'
import { Transfers } from '../upstreams/transfer.ts'
import { cleanForwardedFiles } from './clean.ts'
import { type ForwardedType, shownRootOf } from './forward.ts'
import {
  deleteForwarded,
  type ForwardedKey,
  type ForwardedRow,
  findForwarded,
  saveForwarded,
  saveForwardedUse,
  sumForwarded,
} from './queries.ts'

/** What the registry said of the bytes of a file. */
interface Sum {
  readonly kind: 'sha256' | 'sha512' | 'sha1'
  readonly hex: string
}

/** A file by its name in the cache, below the registry's address. */
interface Named {
  readonly type: ForwardedType
  readonly path: string
}

/** A file of a public registry. */
export interface Wanted extends Named {
  /** Where it is; below the registry's address unless the registry said something else. */
  readonly url: string
  /** A document that changes is asked about again after a while; other files stay as they are. */
  readonly changes: boolean
  readonly accept?: string
  readonly maxSize?: number
  readonly sum?: Sum
  /** Whether what came can be used; what cannot is not kept. */
  readonly mayKeep?: (headers: Headers) => boolean
}

const FRESH_MS = 10 * 60_000
const USE_MS = 3_600_000
const GET_MS = 3_600_000
const MOST_BYTES = 5 * 1024 * 1024 * 1024
const AWAY_MS = 15_000

const transfers = new Transfers<ForwardedRow>()
/** Servers that did not answer a moment ago: a copy is served without waiting for them once more. */
const away = new LRUCache<string, true>({ max: 100, ttl: AWAY_MS })

/** A file that stays as it is, from here or as it comes; `locate` is asked only when it is not here. */
export async function answerForwarded(
  ctx: Ctx,
  file: Named,
  request: Pick<RequestFacts, 'method' | 'headers' | 'signal'>,
  locate: () => Promise<Pick<Wanted, 'url' | 'sum'>>,
): Promise<Bytes> {
  const known = await findUsable(ctx, file)
  if (known) return await answerFetched(ctx, await noted(ctx, known), file.path, request)
  const { transfer, isFirst } = await fetch(
    ctx,
    file,
    undefined,
    async () => ({
      ...file,
      ...(await locate()),
      changes: false,
    }),
    request.signal,
  )
  if (!isFirst || request.method === 'HEAD') {
    if (isFirst) transfer.body.resume()
    return await answerFetched(ctx, await transfer.stored, file.path, request)
  }
  const { length, type } = transfer.headers
  const size: Record<string, string> =
    length === undefined ? {} : { 'Content-Length': String(length) }
  return { body: transfer.body, type, headers: { ...safeHeaders(file.path), ...size } }
}

/** The whole file once it is here. A document that is stale is served while its registry is away. */
export async function fetchForwarded(ctx: Ctx, wanted: Wanted): Promise<ForwardedRow> {
  const known = await findUsable(ctx, wanted)
  if (known && (isFresh(ctx, wanted, known) || away.has(originOf(wanted)))) {
    return await noted(ctx, known)
  }
  try {
    const { transfer, isFirst } = await fetch(ctx, wanted, known, async () => wanted)
    if (isFirst) transfer.body.resume()
    return await transfer.stored
  } catch (error) {
    if (known && error instanceof OutboundError && !isGone(error)) return known
    throw error
  }
}

/** What is kept of a file, however old. */
export async function findUsable(
  ctx: Pick<Ctx, 'db' | 'files' | 'config'>,
  wanted: Named,
): Promise<ForwardedRow | undefined> {
  const row = await findForwarded(ctx.db, keyOf(ctx, wanted))
  return row && (await ctx.files.sizeOf(row.file_sha256)) === row.size ? row : undefined
}

function keyOf(ctx: Pick<Ctx, 'config'>, { type, path }: Named) {
  return { package_type: type, root: shownRootOf(ctx, type), path } satisfies ForwardedKey
}

const originOf = (wanted: Wanted) => new URL(wanted.url).origin

const isGone = (error: unknown) =>
  error instanceof UpstreamStatusError && [404, 410].includes(error.upstreamStatus)

function isFresh(ctx: Pick<Ctx, 'now'>, wanted: Wanted, row: ForwardedRow): boolean {
  return !wanted.changes || row.upstream_checked_at > later(ctx.now(), -FRESH_MS)
}

/** At most once in an hour, and without waiting for the disk. */
async function noted(ctx: Ctx, row: ForwardedRow): Promise<ForwardedRow> {
  const now = ctx.now()
  if (row.used_at <= later(now, -USE_MS)) {
    await inTransaction(ctx, async ({ db }) => {
      await saveForwardedUse(db, row.id, { used_at: now })
      await flushLater(db)
    })
  }
  return row
}

/** `locate` is asked once for all who wait for a file. */
async function fetch(
  ctx: Ctx,
  file: Named,
  known: ForwardedRow | undefined,
  locate: () => Promise<Wanted>,
  signal?: AbortSignal,
) {
  const key = keyOf(ctx, file)
  let wanted: Wanted | undefined
  try {
    return await transfers.fetchOnce(ctx, JSON.stringify(key), {
      signal,
      room: ctx.config.packageCache,
      async ask() {
        wanted = await locate()
        return await ask(ctx, wanted, known?.upstream_etag ?? undefined)
      },
      digests: file.type === 'npm' ? ['sha512'] : [],
      check: (stored, headers) => wanted && assertUsable(wanted, stored, headers),
      save: (stored, headers) => save(ctx, key, stored, headers),
      ...(known ? { keep: () => keep(ctx, known) } : {}),
    })
  } catch (error) {
    if (isGone(error) && known) await deleteForwarded(ctx.db, [known.id])
    throw error
  }
}

async function ask(ctx: Ctx, wanted: Wanted, etag: string | undefined) {
  try {
    const response = await askUrl(ctx, wanted.url, {
      headers: {
        ...(wanted.accept === undefined ? {} : { Accept: wanted.accept }),
        ...(wanted.changes ? { 'Accept-Encoding': 'gzip' } : {}),
        ...(etag === undefined ? {} : { 'If-None-Match': etag }),
      },
      timeoutMs: GET_MS,
      maxSize: Math.min(wanted.maxSize ?? MOST_BYTES, ctx.config.packageCache),
      raw: !wanted.changes,
    })
    away.delete(originOf(wanted))
    return response
  } catch (error) {
    const isAway =
      error instanceof OutboundError && ['unreachable', 'timeout'].includes(error.reason)
    if (isAway) away.set(originOf(wanted), true)
    throw error
  }
}

function assertUsable({ sum, mayKeep }: Wanted, file: StoredFile, headers: Headers): void {
  if (mayKeep?.(headers) === false) throw new UnusableAnswerError('the answer is of another type')
  if (sum === undefined) return
  const found = sum.kind === 'sha256' ? file.sha256 : file.digests[sum.kind]
  if (found !== sum.hex) {
    throw new OutboundError('damaged', 'the answer is not what the registry said')
  }
}

async function save(
  ctx: Ctx,
  key: ForwardedKey,
  file: StoredFile,
  headers: Headers,
): Promise<ForwardedRow> {
  const now = ctx.now()
  return await inTransaction(ctx, async ({ db, work }) => {
    const row = await saveForwarded(db, {
      ...key,
      file_sha256: file.sha256,
      file_sha1: file.digests.sha1 ?? '',
      file_md5: file.digests.md5 ?? '',
      size: file.size,
      content_type: headers.type,
      upstream_etag: headers.etag,
      upstream_checked_at: now,
      used_at: now,
      created_at: now,
    })
    if ((await sumForwarded(db)) > ctx.config.packageCache) {
      await work.enqueue(db, cleanForwardedFiles, {}, { uniqueKey: 'full' })
    }
    return row
  })
}

async function keep(ctx: Ctx, known: ForwardedRow): Promise<ForwardedRow> {
  const now = ctx.now()
  await saveForwardedUse(ctx.db, known.id, { upstream_checked_at: now, used_at: now })
  return { ...known, upstream_checked_at: now, used_at: now }
}
