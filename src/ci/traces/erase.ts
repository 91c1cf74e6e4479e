import type { Ctx } from '../../ctx.ts'
import { deleteTrace } from './queries.ts'
import { removeTraceFile } from './trace-file.ts'
import { withTrace } from './trace-lock.ts'

/** Forgets the log of a job. */
export function eraseTrace(ctx: Pick<Ctx, 'db' | 'config'>, jobId: number): Promise<void> {
  return withTrace(jobId, async () => {
    await deleteTrace(ctx.db, jobId)
    await removeTraceFile(ctx.config, jobId)
  })
}
