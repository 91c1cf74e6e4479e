import type { Effect } from '../ctx.ts'
import type { Awardable } from './award-emoji/awardable.ts'
import type { AwardRow } from './award-emoji/queries.ts'
import type { NoteRow } from './notes/entity.ts'
import type { Noteable } from './notes/noteable.ts'
import type { TodoAction, TodoTarget } from './todos/add.ts'

export interface SavedNote {
  readonly noteable: Noteable
  readonly row: NoteRow
  readonly action: 'create' | 'update'
}

export interface ChangedReaction {
  readonly subject: Awardable
  readonly row: AwardRow
  readonly action: 'award' | 'revoke'
}

export interface AddedTodos {
  readonly target: TodoTarget
  readonly action: TodoAction
  readonly userIds: readonly number[]
}

declare module '../ctx.ts' {
  /** What follows from changes of discussions, each in the transaction of the change. */
  interface Effects {
    readonly noteSaved: readonly Effect<SavedNote>[]
    readonly reactionChanged: readonly Effect<ChangedReaction>[]
    /** Those that comments bring are not among them. */
    readonly todosAdded: readonly Effect<AddedTodos>[]
  }
}
