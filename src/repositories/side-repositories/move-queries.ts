import type { Instant } from '../../base/clock.ts'
import type { Db } from '../../store/schema.ts'
import type { RefMove } from '../refs/moves.ts'

export async function insertMove(
  db: Db,
  given: {
    readonly repositoryId: number
    readonly userId: number | null
    readonly process: string | null
    readonly move: RefMove
  },
  now: Instant,
): Promise<number> {
  const { id } = await db
    .insertInto('side_moves')
    .values({
      repository_id: given.repositoryId,
      user_id: given.userId,
      process: given.process,
      ref: given.move.name,
      old_id: given.move.oldId,
      new_id: given.move.newId,
      created_at: now,
    })
    .returning('id')
    .executeTakeFirstOrThrow()
  return id
}

export async function saveRename(db: Db, id: number, from: string, to: string): Promise<void> {
  await db
    .updateTable('side_moves')
    .set({ from_path: from, to_path: to })
    .where('id', '=', id)
    .execute()
}

export async function findOpenMove(db: Db, id: number) {
  return await db
    .selectFrom('side_moves')
    .selectAll()
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirst()
}

/** Closes an open move; false when that was done before. */
export async function closeMove(
  db: Db,
  id: number,
  state: 'moved' | 'refused',
  now: Instant,
): Promise<boolean> {
  const result = await db
    .updateTable('side_moves')
    .set({ state, closed_at: now })
    .where('id', '=', id)
    .where('state', '=', 'open')
    .executeTakeFirst()
  return result.numUpdatedRows > 0n
}

/** Moves of which it is not known what became of them, begun before a moment. */
export async function listOpenMoves(db: Db, before: Instant) {
  return await db
    .selectFrom('side_moves')
    .selectAll()
    .where('state', '=', 'open')
    .where('created_at', '<=', before)
    .orderBy('id')
    .execute()
}

/** What was recorded for a repository from a move on, newest first, without what was refused. */
export async function listLaterMoves(db: Db, repositoryId: number, fromId: number) {
  return await db
    .selectFrom('side_moves')
    .select(['id', 'ref', 'old_id', 'new_id'])
    .where('repository_id', '=', repositoryId)
    .where('id', '>=', fromId)
    .where('state', '<>', 'refused')
    .orderBy('id', 'desc')
    .execute()
}
