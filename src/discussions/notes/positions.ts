import type { Ctx } from '../../ctx.ts'
import type { Position } from './noteable.ts'
import { listPlacedRows } from './position-queries.ts'
import { updatePosition } from './queries.ts'

/** A comment at a place in a diff. */
export interface PlacedNote {
  readonly id: number
  readonly discussionId: string
  readonly position: Position
}

/** Comments of a merge request that stand at a place in its diff, oldest first. */
export async function listPlacedNotes(ctx: Ctx, mergeRequestId: number): Promise<PlacedNote[]> {
  const rows = await listPlacedRows(ctx.db, mergeRequestId)
  return rows.map((row) => ({
    id: row.id,
    discussionId: row.discussion_id,
    position: JSON.parse(row.position ?? 'null') as Position, // written by us, and never null here
  }))
}

/** Puts a comment at another place, as a later diff has it; in the caller's transaction. */
export function movePlacedNote(
  ctx: Ctx,
  id: number,
  position: Position,
  lineCode: string,
): Promise<void> {
  return updatePosition(ctx.db, id, JSON.stringify(position), lineCode)
}
