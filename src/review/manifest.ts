import { every } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import { viewedFiles } from '../store/migrations/0356-viewed-files.ts'
import * as approvalsProject from './approval-rules/project-endpoints.ts'
import * as approvalsSetting from './approval-rules/setting-endpoints.ts'
import * as approvalsRequest from './approvals/request-endpoints.ts'
import * as mergeRequestsChangedFiles from './merge-requests/changed-files/endpoints.ts'
import * as mergeRequestsViewedFiles from './merge-requests/changed-files/viewed-endpoints.ts'
import * as mergeRequestsConflicts from './merge-requests/conflicts/endpoints.ts'
import * as mergeRequestsDiff from './merge-requests/diff/endpoints.ts'
import * as mergeRequestsDraft from './merge-requests/drafts/endpoints.ts'
import * as mergeRequests from './merge-requests/endpoints.ts'
import * as mergeRequestsBlock from './merge-requests/links/block-endpoints.ts'
import * as mergeRequestsContext from './merge-requests/links/context-endpoints.ts'
import * as mergeRequestsIssue from './merge-requests/links/issue-endpoints.ts'
import * as mergeRequestsMilestone from './merge-requests/list/milestone-endpoints.ts'
import * as mergeRequestsMerge from './merge-requests/merge/endpoints.ts'
import * as mergeRequestsPeople from './merge-requests/people/endpoints.ts'
import {
  merged as afterMerge,
  autoMerge,
  autoMerges,
  check as checkMergeRequest,
  rebase as rebaseMergeRequest,
  refresh as refreshMergeRequest,
  description as requestDescription,
} from './merge-requests/tasks.ts'
import * as suggestions from './suggestions/endpoints.ts'

export const reviewArea: Manifest = {
  name: 'review',
  endpoints: endpointsOf({
    merge_requests: [
      mergeRequestsBlock,
      mergeRequestsChangedFiles,
      mergeRequestsConflicts,
      mergeRequestsContext,
      mergeRequestsDiff,
      mergeRequestsDraft,
      mergeRequests,
      mergeRequestsIssue,
      mergeRequestsMerge,
      mergeRequestsPeople,
      mergeRequestsViewedFiles,
    ],
    approvals: [approvalsProject, approvalsRequest, approvalsSetting],
    milestones: mergeRequestsMilestone,
    suggestions,
  }),
  tasks: [
    refreshMergeRequest,
    checkMergeRequest,
    autoMerge,
    autoMerges,
    rebaseMergeRequest,
    requestDescription,
    afterMerge,
  ],
  schedules: [every(60_000, autoMerges, {})],
  migrations: [viewedFiles],
}
