import type { Project } from '../../access/subjects.ts'
import type { NoteableType } from '../../store/schema/issues.ts'

/** Something that notes hang on, as far as notes need to know it. */
export interface Noteable {
  readonly type: NoteableType
  /** Null for commits, which `commitId` names. */
  readonly id: number | null
  readonly commitId: string | null
  /** Null for snippets and commits. */
  readonly iid: number | null
  readonly project: Project
  readonly authorId: number | null
  /** Only members may add notes. */
  readonly locked: boolean
  readonly title: string
  readonly webUrl: string
}

/** What names the notes of one noteable. */
export interface NoteScope {
  readonly type: NoteableType
  readonly id: number | null
  readonly commitId: string | null
  readonly projectId: number
}

/** Diff positions of notes, as they stand on the wire (docs/contract/B-resolved §11.1 Position). */
export interface Position {
  readonly base_sha: string | null
  readonly start_sha: string | null
  readonly head_sha: string
  readonly old_path: string
  readonly new_path: string
  readonly position_type: 'text' | 'image' | 'file'
  readonly old_line: number | null
  readonly new_line: number | null
  readonly line_range: LineRange | null
  readonly width?: number | null
  readonly height?: number | null
  readonly x?: number | null
  readonly y?: number | null
}

export interface LineRange {
  readonly start: LineRangeEnd
  readonly end: LineRangeEnd
}

export interface LineRangeEnd {
  readonly line_code: string | null
  readonly type: string | null
  readonly old_line: number | null
  readonly new_line: number | null
}
