import type { Ctx } from '../../ctx.ts'
import { presentSuggestion } from './suggestion-entity.ts'
import { listSuggestionsOfNotes } from './suggestion-queries.ts'

/** The suggestions of comments, ready for the wire, by the comment's id. */
export async function suggestionsByNote(ctx: Pick<Ctx, 'db'>, noteIds: readonly number[]) {
  const found = new Map<number, ReturnType<typeof presentSuggestion>[]>()
  if (noteIds.length === 0) return found
  for (const row of await listSuggestionsOfNotes(ctx.db, noteIds)) {
    const known = found.get(row.note_id)
    if (known) known.push(presentSuggestion(row))
    else found.set(row.note_id, [presentSuggestion(row)])
  }
  return found
}
