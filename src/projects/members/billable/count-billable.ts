import { dayOf } from '../../../base/clock.ts'
import type { Ctx } from '../../../ctx.ts'
import { countBillableRows } from '../hierarchy-queries.ts'

/** How many users take a seat in a top-level group. */
export async function countBillable(ctx: Ctx, topId: number): Promise<number> {
  return await countBillableRows(ctx.db, topId, dayOf(ctx.now()))
}
