import type { Instant } from '../../../base/clock.ts'
import type { Db } from '../../../store/schema.ts'

/**
 * Deletes pushes that were closed before a moment, their moves and effects with them; gives how many. What became of a
 * push that is still open is read from the moves after its own, so nothing of its repository from then on goes.
 */
export async function deleteOldPushes(db: Db, before: Instant, most: number): Promise<number> {
  const result = await db
    .deleteFrom('pushes')
    .where('id', 'in', (from) =>
      from
        .selectFrom('pushes as old')
        .select('old.id')
        .where('old.state', '=', 'closed')
        .where('old.closed_at', '<', before)
        .where((is) =>
          is.not(
            is.exists(
              is
                .selectFrom('pushes as open')
                .select('open.id')
                .where('open.state', '=', 'open')
                .whereRef('open.project_id', 'is', 'old.project_id')
                .whereRef('open.repository_id', 'is', 'old.repository_id')
                .whereRef('open.id', '<', 'old.id'),
            ),
          ),
        )
        .orderBy('old.id')
        .limit(most),
    )
    .executeTakeFirst()
  return Number(result.numDeletedRows)
}
