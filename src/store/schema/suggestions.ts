import type { Id, Optional, OptionalInstant } from './columns.ts'

export interface SuggestionsSchema {
  /** A change that a comment on a line proposes; the lines count from the one that it stands at. */
  suggestions: {
    id: Id
    note_id: number
    relative_order: number
    lines_above: number
    lines_below: number
    from_content: string
    to_content: string
    /** The commit that took it over. */
    commit_id: Optional<string>
    applied_at: OptionalInstant
  }
}
