import { readFile } from 'node:fs/promises'
import { LRUCache } from 'lru-cache'
import { runInWorker, WorkerLimitError } from '../../base/workers/worker-pool.ts'
import type { Ctx } from '../../ctx.ts'
import { type ReadyDocument, readyDocument } from '../registry/documents.ts'
import { UnusableAnswerError } from '../upstreams/ask.ts'
import type { ForwardedRow } from './queries.ts'

const CACHE_BYTES = 32 * 1024 * 1024
const SHORT_BYTES = 256 * 1024
const TIMEOUT_MS = 20_000

/** A function of a worker module that reads a document of a public registry. */
export interface Reader {
  readonly module: URL
  readonly name: string
}

interface Making {
  readonly ctx: Pick<Ctx, 'files'>
  readonly row: ForwardedRow
  readonly reader: Reader
  readonly options: object
}

/** Documents whose links lead to this server, by what they were made of. */
const rewritten = new LRUCache<string, ReadyDocument, Making>({
  maxSize: CACHE_BYTES,
  sizeCalculation: ({ content }) => content.length + 1,
  ignoreFetchAbort: true,
  fetchMethod: async (_key, _stale, { context }) => {
    const text = await readInWorker<string>(
      context.ctx,
      context.row,
      context.reader,
      context.options,
    )
    return await readyDocument(text)
  },
})

/** A document of a public registry as `reader` rewrites it, made once for many who ask. */
export async function rewriteForwarded(
  ctx: Pick<Ctx, 'files'>,
  row: ForwardedRow,
  reader: Reader,
  options: object,
): Promise<ReadyDocument> {
  const key = JSON.stringify([row.file_sha256, reader.name, options])
  return await rewritten.forceFetch(key, { context: { ctx, row, reader, options } })
}

/** What `reader` finds in a document of a public registry. What is no such document can't be used. */
export async function readInWorker<Found>(
  ctx: Pick<Ctx, 'files'>,
  row: ForwardedRow,
  reader: Reader,
  options: object,
): Promise<Found> {
  const text = await readFile(ctx.files.pathOf(row.file_sha256), 'utf8')
  const isLong = row.size > SHORT_BYTES
  try {
    const limits = { timeoutMs: TIMEOUT_MS, isLong }
    const found = await runInWorker<object, Found | undefined>(
      { text, ...options },
      { ...reader, ...limits },
    )
    if (found !== undefined) return found
  } catch (error) {
    // A document that is nested too deeply overflows the stack.
    if (!(error instanceof WorkerLimitError || error instanceof RangeError)) throw error
  }
  throw new UnusableAnswerError('the document cannot be read')
}
