import type { Project } from '../access/subjects.ts'
import type { Effect, PreparedEffect } from '../ctx.ts'
import type { NoteRow } from '../discussions/notes/entity.ts'
import type { Noteable } from '../discussions/notes/noteable.ts'
import type { MergeRequestRow } from './merge-requests/row.ts'

/** What happened to a merge request, in the words of the contract (docs/contract/D §1.25). */
export type MergeRequestAction =
  | 'open'
  | 'close'
  | 'reopen'
  | 'update'
  | 'approved'
  | 'approval'
  | 'unapproved'
  | 'unapproval'
  | 'merge'

export interface ChangedMergeRequest {
  readonly project: Project
  readonly id: number
  readonly action: MergeRequestAction
  /** The head before, when commits changed. */
  readonly oldrev?: string | undefined
}

/** A quick action of a comment approves a merge request, or takes the approval back. */
export interface AskedApproval {
  readonly project: Project
  readonly row: MergeRequestRow
  readonly approves: boolean
}

declare module '../ctx.ts' {
  /** What follows from changes of merge requests, each in the transaction of the change. */
  interface Effects {
    readonly mergeRequestChanged: readonly Effect<ChangedMergeRequest>[]
    /** The same of a change of its own fields, which is seen before and after. */
    readonly mergeRequestEdited: readonly PreparedEffect<
      { readonly project: Project; readonly row: MergeRequestRow },
      MergeRequestAction
    >[]
    /** It is to be merged as soon as nothing stands in its way. */
    readonly autoMergeSet: readonly Effect<{ readonly project: Project; readonly id: number }>[]
    readonly approvalAsked: readonly Effect<AskedApproval>[]
    /** A merge request has approval rules of its own now. */
    readonly requestRulesMade: readonly Effect<{ readonly id: number }>[]
    /** The open merge requests of a project have none any more. */
    readonly requestRulesForgotten: readonly Effect<{ readonly projectId: number }>[]
    /** A comment was written or changed; outside any transaction. */
    readonly reviewNoteSaved: readonly Effect<{
      readonly noteable: Noteable
      readonly row: NoteRow
    }>[]
  }
}
