import { z } from 'zod'
import type { SuggestionRow } from './suggestion-queries.ts'

/** A change that a comment proposes (docs/contract/D §1.11). */
export const suggestionEntity = z.strictObject({
  id: z.int(),
  from_line: z.int(),
  to_line: z.int(),
  appliable: z.boolean(),
  applied: z.boolean(),
  from_content: z.string(),
  to_content: z.string(),
})

/** Where a comment on a line stands, as far as its suggestions ask. */
export interface SuggestedPlace {
  readonly head_sha: string
  readonly new_path: string
  readonly new_line: number
}

export function placeOf(row: Pick<SuggestionRow, 'position'>): SuggestedPlace {
  return JSON.parse(row.position ?? '{}') as SuggestedPlace // written by us, with a new line where there are suggestions
}

/** Which lines a suggestion means now. */
export function rangeOf(row: SuggestionRow): { readonly from: number; readonly to: number } {
  const { new_line: line } = placeOf(row)
  return { from: Math.max(1, line - row.lines_above), to: line + row.lines_below }
}

export const takenText = "Can't apply this suggestion."

/** Why a suggestion can't be taken over, as far as the database knows; undefined when it can. */
export function reasonAgainst(row: SuggestionRow): string | undefined {
  const edit = 'To apply this suggestion, edit this file directly.'
  if (row.commit_id !== null) return takenText
  if (row.state === 'merged') return `This merge request was merged. ${edit}`
  if (row.state !== 'opened') return `This merge request is closed. ${edit}`
  if (row.source_branch_exists === 0) return "Can't apply as the source branch was deleted."
  if (placeOf(row).head_sha !== row.head_sha) return outdatedText(row)
  if (row.from_content === row.to_content) return 'This suggestion already matches its content.'
  return undefined
}

export function outdatedText(row: SuggestionRow): string {
  const { from, to } = rangeOf(row)
  const what = from === to ? 'this line was' : 'these lines were'
  return `Can't apply as ${what} changed in a more recent version.`
}

export function presentSuggestion(row: SuggestionRow): z.input<typeof suggestionEntity> {
  const { from, to } = rangeOf(row)
  return {
    id: row.id,
    from_line: from,
    to_line: to,
    appliable: reasonAgainst(row) === undefined,
    applied: row.commit_id !== null,
    from_content: row.from_content,
    to_content: row.to_content,
  }
}
