import type { Instant } from '../../base/clock.ts'
import type { Db, NewRowOf } from '../../store/schema.ts'

/** Replaces the suggestions of a comment; those that were taken over stay. */
export async function replaceSuggestions(
  db: Db,
  noteId: number,
  suggestions: readonly Omit<NewRowOf<'suggestions'>, 'note_id' | 'relative_order'>[],
): Promise<void> {
  await db
    .deleteFrom('suggestions')
    .where('note_id', '=', noteId)
    .where('commit_id', 'is', null)
    .execute()
  const kept = await db
    .selectFrom('suggestions')
    .select((expression) => expression.fn.max('relative_order').as('last'))
    .where('note_id', '=', noteId)
    .executeTakeFirst()
  const first = (kept?.last ?? -1) + 1
  if (suggestions.length === 0) return
  await db
    .insertInto('suggestions')
    .values(suggestions.map((one, at) => ({ ...one, note_id: noteId, relative_order: first + at })))
    .execute()
}

export async function markApplied(
  db: Db,
  ids: readonly number[],
  commitId: string,
  now: Instant,
): Promise<void> {
  await db
    .updateTable('suggestions')
    .set({ commit_id: commitId, applied_at: now })
    .where('id', 'in', ids)
    .execute()
}
