import type { Project } from '../access/subjects.ts'
import type { Effect } from '../ctx.ts'
import type { IssueState } from './issues/issue-state.ts'
import type { IssueRow } from './issues/queries.ts'
import type { MilestoneRow } from './milestones/entity.ts'
import type { Place } from './place.ts'

export interface ChangedIssue {
  readonly project: Project
  /** Absent for a new issue. */
  readonly before?: IssueState | undefined
  readonly after: IssueState
}

export interface ChangedMilestone {
  readonly place: Place
  readonly row: MilestoneRow
  readonly action: 'create' | 'close' | 'reopen' | 'delete'
}

export interface ContinuedDiscussion {
  readonly project: Project
  /** The merge request whose threads it was. */
  readonly iid: number
  readonly issue: IssueRow
  /** The one thread that is meant, or all that are open. */
  readonly only?: string | undefined
}

declare module '../ctx.ts' {
  /** What follows from changes of what is planned, each in the transaction of the change. */
  interface Effects {
    readonly issueChanged: readonly Effect<ChangedIssue>[]
    /** A new issue goes on with the threads of a merge request; outside the transaction that made it. */
    readonly discussionContinued: readonly Effect<ContinuedDiscussion>[]
    readonly milestoneChanged: readonly Effect<ChangedMilestone>[]
  }
}
