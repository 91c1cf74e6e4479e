import { createReadStream } from 'node:fs'
import type { Ctx } from '../../ctx.ts'
import { findTrace, updateTrace } from './queries.ts'
import { removeTraceFile, traceLength, tracePath } from './trace-file.ts'
import { withTrace } from './trace-lock.ts'

/** Moves the log of a job that has ended into the file store. Done again it changes nothing. */
export function storeTrace(ctx: Ctx, jobId: number): Promise<void> {
  return withTrace(jobId, async () => {
    const row = await findTrace(ctx.db, jobId)
    if (!row || row.sha256 !== null) return await removeTraceFile(ctx.config, jobId)
    const length = Math.min(row.size, await traceLength(ctx.config, jobId))
    if (length === 0) return
    const end = length - 1
    const stored = await ctx.files.put(createReadStream(tracePath(ctx.config, jobId), { end }))
    await updateTrace(ctx.db, jobId, { sha256: stored.sha256, size: length, shown: length })
    await removeTraceFile(ctx.config, jobId)
  })
}
