import { enqueueLinking } from './ci/deployments/brought-in.ts'
import type { Effects } from './ctx.ts'
import { crossReferencePush } from './discussions/references/cross-reference.ts'
import { addRequestTodos, completeRequestTodos } from './discussions/todos/add.ts'
import {
  removeAccountsOfGroup,
  removeAccountsOfProject,
} from './identity/service-accounts/remove-accounts.ts'
import { endSessionsOf } from './identity/sign-in/session.ts'
import { forgetPasswordLinks } from './identity/users/addresses/confirm-address.ts'
import { resolveAlertsOf } from './monitoring/incidents/close-incident.ts'
import { mailAlerts } from './notifications/alerts/mail-alerts.ts'
import { mailActivity, recordEvent } from './notifications/events/record.ts'
import { recordPushEvents } from './notifications/events/record-push.ts'
import { fireAlertHooks } from './notifications/hooks/payloads/alert-hook.ts'
import { enqueueDeploymentHooks } from './notifications/hooks/payloads/deployment-hook.ts'
import { fireFeatureFlagHooks } from './notifications/hooks/payloads/feature-flag-hook.ts'
import { fireIssueHooks } from './notifications/hooks/payloads/issue-hook.ts'
import {
  compareForHooks,
  enqueueMergeRequestHooks,
} from './notifications/hooks/payloads/merge-request-hook.ts'
import { fireMilestoneHooks } from './notifications/hooks/payloads/milestone-hook.ts'
import { enqueueNoteHooks } from './notifications/hooks/payloads/note-hook.ts'
import {
  enqueuePipelineEnd,
  enqueuePipelineHooks,
} from './notifications/hooks/payloads/pipeline-hooks.ts'
import { pushHooks } from './notifications/hooks/payloads/push-hooks.ts'
import { enqueueReactionHooks } from './notifications/hooks/payloads/reaction-hook.ts'
import { releaseHooks } from './notifications/hooks/payloads/release-hook.ts'
import { wikiHooks } from './notifications/hooks/payloads/wiki-hook.ts'
import {
  fireGroupHooks,
  fireKeyAdded,
  fireKeyRemoved,
  fireMemberHooks,
  fireProjectHooks,
  fireSignInRefused,
  fireUserCreated,
  fireUserRemoved,
  fireUserRenamed,
} from './notifications/hooks/system-hooks.ts'
import { mailMove } from './notifications/notifications/moved-mail.ts'
import { mailRelease } from './notifications/notifications/release-mail.ts'
import { mailAutoMerge, mailRequestPush } from './notifications/notifications/request-mails.ts'
import { mailTodos } from './notifications/notifications/todo-mails.ts'
import { dateImageCleanup } from './packages/image-cleanup/run.ts'
import { unassignRemoved } from './planning/assignees/tasks.ts'
import { closeByPush } from './planning/issues/close-by-commit.ts'
import { keepUsedByGroup, keepUsedByProject } from './planning/transfer/keep-used.ts'
import { removeOwnedGroups, removePersonalProjects } from './projects/groups/remove-owned.ts'
import { createUserNamespace, followUserName } from './projects/groups/user-namespace.ts'
import { acceptInvitations } from './projects/members/invitations/invite.ts'
import { applyProvidedRoles } from './projects/members/provided-roles.ts'
import { noteActivity } from './projects/projects/pushed.ts'
import { removeReleaseOfTag, removeReleasesLeft } from './publishing/releases/verbs.ts'
import { snippetMoved } from './publishing/snippets/after-move.ts'
import { discardSnippetsOf } from './publishing/snippets/remove.ts'
import { wikiMoved } from './publishing/wikis/after-move.ts'
import { copyTemplate } from './repositories/imports/copy-template.ts'
import { writeReadme } from './repositories/imports/initial-readme.ts'
import { largeFileRule } from './repositories/lfs/push-rule.ts'
import { pushToMirrors } from './repositories/mirrors/push-task.ts'
import { protectFirstBranch } from './repositories/protections/protect-branch.ts'
import { pushRuleRule } from './repositories/push-rules/check.ts'
import { protectionRule } from './repositories/refs/protection-rule.ts'
import { sizeLimitRule } from './repositories/size-limit/push-rule.ts'
import {
  removeRepositoriesOfGroup,
  removeRepositoriesOfProject,
} from './repositories/wikis-and-snippets/repository.ts'
import { codeOwnerRule } from './review/approval-rules/code-owner-push-rule.ts'
import { approveByCommand } from './review/approvals/approve.ts'
import { continueThreads } from './review/merge-requests/change/continue-threads.ts'
import { clearOverwritten, markOverwritten } from './review/merge-requests/diff/overwritten.ts'
import { mergeAfterPipeline } from './review/merge-requests/merge/auto-merge-wait.ts'
import { completeMergeOf, dropMergeOf } from './review/merge-requests/merge/complete-merge.ts'
import { remindOfPipeline } from './review/merge-requests/merge/reminders.ts'
import { branchesMoved, mergeRequestsAfterPush } from './review/merge-requests/pushes/after-push.ts'
import { saveSuggestions } from './review/suggestions/save-suggestions.ts'

/** What follows from each change, in order: the whole story of a push, a merge or a new user stands here. */
export const effects: Effects = {
  userCreated: [createUserNamespace, fireUserCreated],
  userRenamed: [followUserName, fireUserRenamed],
  addressConfirmed: [acceptInvitations],
  signInRefused: [fireSignInRefused],
  rolesProvided: [applyProvidedRoles],
  passwordChanged: [endSessionsOf, forgetPasswordLinks],
  userLeaving: [removePersonalProjects, discardSnippetsOf, removeOwnedGroups],
  userRemoved: [fireUserRemoved],
  keyAdded: [fireKeyAdded],
  keyRemoved: [fireKeyRemoved],

  activity: [recordEvent, noteActivity, mailActivity],
  projectChanged: [keepUsedByProject, dateImageCleanup, fireProjectHooks, mailMove],
  groupChanged: [fireGroupHooks],
  groupTransferred: [keepUsedByGroup],
  repositoryMade: [writeReadme, copyTemplate],
  projectErased: [removeAccountsOfProject, removeRepositoriesOfProject],
  groupErased: [removeAccountsOfGroup, removeRepositoriesOfGroup],
  memberChanged: [fireMemberHooks],
  memberUnassigned: [unassignRemoved],
  accessRequested: [addRequestTodos],
  accessDecided: [completeRequestTodos],

  mayMoveRef: [protectionRule, codeOwnerRule, pushRuleRule],
  mayPush: [largeFileRule, sizeLimitRule],
  refsMoved: [completeMergeOf, branchesMoved],
  defaultBranchDecided: [protectFirstBranch],
  refsRefused: [dropMergeOf],
  pushFinalized: [mergeRequestsAfterPush],
  pushFollowed: [
    recordPushEvents,
    pushHooks,
    closeByPush,
    crossReferencePush,
    removeReleasesLeft,
    pushToMirrors,
  ],
  tagDeleted: [removeReleaseOfTag],
  wikiMoved: [wikiMoved],
  snippetMoved: [snippetMoved],

  noteSaved: [enqueueNoteHooks],
  reactionChanged: [enqueueReactionHooks],
  todosAdded: [mailTodos],

  issueChanged: [fireIssueHooks, resolveAlertsOf],
  discussionContinued: [continueThreads],
  milestoneChanged: [fireMilestoneHooks],

  mergeRequestChanged: [enqueueMergeRequestHooks, mailRequestPush],
  mergeRequestEdited: [compareForHooks],
  autoMergeSet: [mailAutoMerge],
  approvalAsked: [approveByCommand],
  requestRulesMade: [markOverwritten],
  requestRulesForgotten: [clearOverwritten],
  reviewNoteSaved: [saveSuggestions],

  releaseChanged: [releaseHooks, mailRelease],
  wikiChanged: [wikiHooks],

  pipelineChanged: [enqueuePipelineHooks],
  pipelineEnded: [enqueuePipelineEnd, mergeAfterPipeline, remindOfPipeline],
  deploymentChanged: [enqueueDeploymentHooks, enqueueLinking],
  featureFlagSwitched: [fireFeatureFlagHooks],

  alertChanged: [fireAlertHooks, mailAlerts],
}
