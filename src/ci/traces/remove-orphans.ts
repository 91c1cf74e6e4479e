import type { Ctx } from '../../ctx.ts'
import { listDeletedJobs } from './queries.ts'
import { listTraceFiles, removeTraceFile } from './trace-file.ts'
import { withTrace } from './trace-lock.ts'

/** Removes the growing logs of jobs that were deleted, with their pipeline or project, while they ran. */
export async function removeOrphans(ctx: Pick<Ctx, 'db' | 'config'>): Promise<void> {
  for (const id of await listDeletedJobs(ctx.db, await listTraceFiles(ctx.config))) {
    await withTrace(id, () => removeTraceFile(ctx.config, id))
  }
}
