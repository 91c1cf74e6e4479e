import type { Project } from '../../access/subjects.ts'
import { badParameters, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { getRow } from './create-issue.ts'
import { fillPositions, findNeighbour, findPosition, spreadPositions } from './position-queries.ts'
import { type IssueRow, updateIssue } from './queries.ts'

/** Between two neighbours that were never moved; halved with each move between them. */
const gap = 1024

/** Ids of the issues that it should stand behind and before. */
interface Neighbours {
  readonly afterId?: number | null | undefined
  readonly beforeId?: number | null | undefined
}

/**
 * Puts an issue behind one and before another of its project, in the order that boards show (`relative_position`). When
 * no place is left between neighbours, all of the project get room again.
 */
export async function reorderIssue(
  ctx: Ctx,
  project: Project,
  row: IssueRow,
  wanted: Neighbours,
): Promise<IssueRow> {
  const { afterId, beforeId } = wanted
  if (!afterId && !beforeId) {
    throw badParameters(
      'move_after_id, move_before_id are missing, at least one parameter must be provided',
    )
  }
  return inTransaction(ctx, async (ctx) => {
    await fillPositions(ctx.db, project.id, gap)
    const position = (await between(ctx, row, wanted)) ?? (await respread(ctx, row, wanted))
    await updateIssue(ctx.db, row.id, { relative_position: position })
    return getRow(ctx, row.id)
  })
}

async function respread(ctx: Ctx, row: IssueRow, wanted: Neighbours): Promise<number> {
  await spreadPositions(ctx.db, row.project_id, gap)
  const position = await between(ctx, row, wanted)
  if (position === undefined) throw new Error('no room between issues that were just spread')
  return position
}

/** A free place between the two; undefined when there is none left. */
async function between(
  ctx: Ctx,
  row: IssueRow,
  { afterId, beforeId }: Neighbours,
): Promise<number | undefined> {
  const place = { projectId: row.project_id, exceptId: row.id }
  const after = afterId ? await positionOf(ctx, row.project_id, afterId) : undefined
  const before = beforeId ? await positionOf(ctx, row.project_id, beforeId) : undefined
  if (after !== undefined && before !== undefined && after >= before) {
    throw badParameters('move_after_id does not have a valid value')
  }
  const low = after ?? (await findNeighbour(ctx.db, place, 'below', before ?? 0))
  const high = before ?? (await findNeighbour(ctx.db, place, 'above', after ?? 0))
  if (low === undefined) return (high ?? 0) - gap
  if (high === undefined) return low + gap
  return high - low < 2 ? undefined : Math.floor((low + high) / 2)
}

async function positionOf(ctx: Ctx, projectId: number, id: number): Promise<number> {
  const position = await findPosition(ctx.db, projectId, id)
  if (position === undefined) throw notFound('Issue')
  return position
}
