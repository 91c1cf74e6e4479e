import { viewerOf } from '../../access/visible-queries.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { countsById } from './count-queries.ts'
import { type DetailedMergeStatus, detailedMergeStatus } from './detailed-merge-status.ts'
import { mergeFactsById } from './facts.ts'
import type { MergeRequestRow } from './row.ts'

/** `detailed_merge_status` of one merge request; `waiting` says that its pipeline is to be waited for. */
export async function statusOf(
  ctx: Ctx,
  row: MergeRequestRow,
  waiting = row.auto_merge_sha !== null,
): Promise<DetailedMergeStatus> {
  const counts = await countsById(ctx.db, viewerOf(ctx), [row.id])
  const facts = await mergeFactsById(ctx, [row], counts, () => waiting)
  const found = existing(facts.get(row.id))
  return detailedMergeStatus(found)
}
