import type { NoteRow } from '../notes/entity.ts'
import type { Noteable } from '../notes/noteable.ts'
import type { AwardableType } from './queries.ts'

/** Something that people react to with an emoji. */
export interface Awardable {
  readonly type: AwardableType
  readonly id: number
  /** The thing itself, or what the note stands on. */
  readonly noteable: Noteable
  readonly note: NoteRow | null
}
