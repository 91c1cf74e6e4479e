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

export type SuggestionRow = Awaited<ReturnType<typeof listSuggestionsOfNotes>>[number]

/** Suggestions of comments, in the order of their texts. */
export async function listSuggestionsOfNotes(db: Db, noteIds: readonly number[]) {
  return suggestionQuery(db)
    .where('suggestions.note_id', 'in', noteIds)
    .orderBy('suggestions.note_id')
    .orderBy('suggestions.relative_order')
    .execute()
}

/** Suggestions by their ids. */
export async function listSuggestionsById(db: Db, ids: readonly number[]) {
  return suggestionQuery(db).where('suggestions.id', 'in', ids).orderBy('suggestions.id').execute()
}
