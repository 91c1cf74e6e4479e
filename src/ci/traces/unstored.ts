import type { Ctx } from '../../ctx.ts'
import { listUnstored } from './queries.ts'

/** Jobs that ended before a moment, and whose log is not put away yet. */
export function unstoredTraces(ctx: Pick<Ctx, 'db'>, before: string): Promise<number[]> {
  return listUnstored(ctx.db, before)
}
