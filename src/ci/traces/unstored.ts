import type { Ctx } from '../../ctx.ts'
import { listUnstored } from './queries.ts'
import { listTraceFiles } from './trace-file.ts'

/** Jobs that ended before a moment, and whose log is still a growing file. */
export async function unstoredTraces(
  ctx: Pick<Ctx, 'db' | 'config'>,
  before: string,
): Promise<number[]> {
  return await listUnstored(ctx.db, await listTraceFiles(ctx.config), before)
}
