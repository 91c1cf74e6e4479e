import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { Ctx } from '../../ctx.ts'
import { findTrace } from './queries.ts'
import { tracePath } from './trace-file.ts'

interface ByteRange {
  readonly start: number
  readonly end: number
}

/** The log of a job as far as it may be shown. */
export interface ShownTrace {
  readonly size: number
  readonly etag: string
  readonly debug: boolean
  open(range?: ByteRange): Promise<Readable>
}

/** The log of a job, growing or stored; empty when there is none. */
export async function readTrace(
  ctx: Pick<Ctx, 'db' | 'files' | 'config'>,
  jobId: number,
): Promise<ShownTrace> {
  const row = await findTrace(ctx.db, jobId)
  const size = row?.shown ?? 0
  return {
    size,
    etag: `"${jobId}-${size}-${row?.sha256?.slice(0, 8) ?? 'live'}"`,
    debug: row?.debug === 1,
    async open(range = { start: 0, end: size - 1 }) {
      if (size === 0) return Readable.from([], { objectMode: false })
      const sha256 = row?.sha256
      if (sha256) return (await ctx.files.open(sha256, range)).body
      const path = tracePath(ctx.config, jobId)
      try {
        const file = await open(path, 'r')
        return file.createReadStream(range)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
        // It was stored since the row was read.
        const now = await findTrace(ctx.db, jobId)
        if (!now?.sha256) return Readable.from([], { objectMode: false })
        return (await ctx.files.open(now.sha256, range)).body
      }
    },
  }
}

/** The end of the log of a job, for what is looked for in it. */
export async function readTraceEnd(
  ctx: Pick<Ctx, 'db' | 'files' | 'config'>,
  jobId: number,
  most: number,
): Promise<string> {
  const trace = await readTrace(ctx, jobId)
  if (trace.size === 0) return ''
  const body = await trace.open({ start: Math.max(0, trace.size - most), end: trace.size - 1 })
  const chunks: Buffer[] = []
  for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
