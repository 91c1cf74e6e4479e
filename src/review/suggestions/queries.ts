import type { Insertable } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import type { SuggestionsTable } from '../../store/schema/suggestions.ts'
import type { Db } from '../../store/schema.ts'

function suggestionQuery(db: Db) {
  return db
    .selectFrom('suggestions')
    .innerJoin('notes', 'notes.id', 'suggestions.note_id')
    .innerJoin('merge_requests', 'merge_requests.id', 'notes.noteable_id')
    .selectAll('suggestions')
    .select([
      'notes.position',
      'notes.author_id',
      'notes.discussion_id',
      'merge_requests.id as merge_request_id',
      'merge_requests.state',
      'merge_requests.head_sha',
      'merge_requests.source_branch_exists',
    ])
    .where('notes.noteable_type', '=', 'MergeRequest')
}

export type SuggestionRow = Awaited<ReturnType<typeof listOfNotes>>[number]

/** Suggestions of comments, in the order of their texts. */
export async function listOfNotes(db: Db, noteIds: readonly number[]) {
  return suggestionQuery(db)
    .where('suggestions.note_id', 'in', noteIds)
    .orderBy('suggestions.note_id')
    .orderBy('suggestions.relative_order')
    .execute()
}

export async function listById(db: Db, ids: readonly number[]) {
  return suggestionQuery(db).where('suggestions.id', 'in', ids).orderBy('suggestions.id').execute()
}

/** Replaces the suggestions of a comment; those that were taken over stay. */
export async function replaceSuggestions(
  db: Db,
  noteId: number,
  suggestions: readonly Omit<Insertable<SuggestionsTable>, 'note_id' | 'relative_order'>[],
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
