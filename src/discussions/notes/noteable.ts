import type { z } from 'zod'
import type { Project } from '../../access/subjects.ts'
import type { NoteableType } from '../../store/schema/issues.ts'
import type { positionEntity } from './entity.ts'

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
export type Position = Readonly<z.infer<typeof positionEntity>>
export type LineRange = NonNullable<Position['line_range']>
export type LineRangeEnd = LineRange['start']
