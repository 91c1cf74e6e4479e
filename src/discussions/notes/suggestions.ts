import { groupBy } from '../../base/group-by.ts'
import type { Ctx } from '../../ctx.ts'
import { presentSuggestion } from './suggestion-entity.ts'
import { listSuggestionsOfNotes } from './suggestion-queries.ts'

/** The suggestions of comments, ready for the wire, by the comment's id. */
export async function suggestionsByNote(ctx: Pick<Ctx, 'db'>, noteIds: readonly number[]) {
  const rows = noteIds.length === 0 ? [] : await listSuggestionsOfNotes(ctx.db, noteIds)
  const byNote = groupBy(rows, (row) => row.note_id)
  return new Map([...byNote].map(([id, own]) => [id, own.map(presentSuggestion)]))
}
