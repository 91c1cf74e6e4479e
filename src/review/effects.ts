import type { Project } from '../access/subjects.ts'
import type { Effect, PreparedEffect } from '../ctx.ts'
import type { MergeRequestRow } from './merge-requests/row.ts'

/** What happened to a merge request, in the words of the contract (spec D §1.25). */
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

/** What follows from changes of merge requests, each in the transaction of the change. */
export interface ReviewEffects {
  readonly mergeRequestChanged: readonly Effect<ChangedMergeRequest>[]
  /** The same of a change of its own fields, which is seen before and after. */
  readonly mergeRequestEdited: readonly PreparedEffect<
    { readonly project: Project; readonly row: MergeRequestRow },
    MergeRequestAction
  >[]
}
