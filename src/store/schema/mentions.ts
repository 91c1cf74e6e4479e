import type { Instant } from '../../base/clock.ts'
import type { Optional } from './columns.ts'

export interface MentionsSchema {
  /** People whom the texts of an issue or merge request mention. */
  mentions: {
    subject_type: 'Issue' | 'MergeRequest'
    subject_id: number
    user_id: number
    created_at: Instant
  }

  /** What a note `mentioned in …` is about: readers who may not see the source do not see the note. */
  cross_references: {
    note_id: number
    source_type: 'Issue' | 'MergeRequest' | 'Commit'
    source_id: Optional<number>
    source_commit: Optional<string>
    source_project_id: number
  }
}
