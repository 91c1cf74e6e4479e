import { endpointsOf, type Manifest } from '../manifest.ts'
import { daily, every } from '../work/schedule.ts'
import * as accessTokensAssociations from './access-tokens/associations-endpoints.ts'
import * as accessTokens from './access-tokens/endpoints.ts'
import * as accessTokensImpersonation from './access-tokens/impersonation-endpoints.ts'
import * as accessTokensSource from './access-tokens/source-endpoints.ts'
import { tellExpiringTokens } from './access-tokens/tell-expiring.ts'
import * as approvalsProject from './approvals/project-endpoints.ts'
import * as approvalsRequest from './approvals/request-endpoints.ts'
import * as approvalsSetting from './approvals/setting-endpoints.ts'
import { unassignMember } from './assignees/tasks.ts'
import * as auditEvents from './audit-events/endpoints.ts'
import * as badges from './badges/endpoints.ts'
import * as boards from './boards/endpoints.ts'
import * as branches from './branches/endpoints.ts'
import { deleteMergedBranches } from './branches/tasks.ts'
import * as broadcastMessages from './broadcast-messages/endpoints.ts'
import * as changelog from './changelog/endpoints.ts'
import * as commitsComment from './commits/comment-endpoints.ts'
import * as commitsDiscussion from './commits/discussion-endpoints.ts'
import * as commits from './commits/endpoints.ts'
import * as commitsWrite from './commits/write-endpoints.ts'
import * as compare from './compare/endpoints.ts'
import * as containerRegistry from './container-registry/endpoints.ts'
import * as customAttributes from './custom-attributes/endpoints.ts'
import * as deployTokens from './deploy-tokens/endpoints.ts'
import * as events from './events/endpoints.ts'
import * as exports from './exports/endpoints.ts'
import * as exportsGroup from './exports/group-endpoints.ts'
import * as exportsRemote from './exports/remote-endpoints.ts'
import { exportSource, importProject, importRemote, removeOldExports } from './exports/tasks.ts'
import * as files from './files/endpoints.ts'
import * as filesWrite from './files/write-endpoints.ts'
import * as gpgKeys from './gpg-keys/endpoints.ts'
import * as graphql from './graphql/endpoints.ts'
import * as groupActivity from './group-activity/endpoints.ts'
import * as groupsChange from './groups/change-endpoints.ts'
import * as groups from './groups/endpoints.ts'
import * as groupsProject from './groups/project-endpoints.ts'
import * as groupsRelated from './groups/related-endpoints.ts'
import { removeGroup, removeMarkedGroups } from './groups/remove-group.ts'
import * as health from './health/endpoints.ts'
import { deliverHook, forgetDeliveries } from './hooks/deliver.ts'
import * as hooks from './hooks/endpoints.ts'
import * as hooksGroup from './hooks/group-endpoints.ts'
import * as hooksLog from './hooks/log-endpoints.ts'
import * as hooksSystem from './hooks/system-endpoints.ts'
import * as instance from './instance/endpoints.ts'
import * as instanceFeature from './instance/feature-endpoints.ts'
import * as instanceMetrics from './instance/metrics-endpoints.ts'
import * as instanceQueue from './instance/queue-endpoints.ts'
import * as issues from './issues/endpoints.ts'
import * as issuesLink from './issues/link-endpoints.ts'
import * as issuesMilestone from './issues/milestone-endpoints.ts'
import * as issuesSide from './issues/side-endpoints.ts'
import * as keysDeployKey from './keys/deploy-key-endpoints.ts'
import * as keys from './keys/endpoints.ts'
import * as labels from './labels/endpoints.ts'
import * as markdown from './markdown/endpoints.ts'
import * as membersBillable from './members/billable-endpoints.ts'
import { removeBillable } from './members/billable-removal.ts'
import * as members from './members/endpoints.ts'
import * as membersInvitation from './members/invitation-endpoints.ts'
import { sendInvitation } from './members/invite.ts'
import * as membersPending from './members/pending-endpoints.ts'
import * as membersRequest from './members/request-endpoints.ts'
import { removeExpiredMembers } from './members/tasks.ts'
import * as mergeRequestsBlock from './merge-requests/block-endpoints.ts'
import * as mergeRequestsContext from './merge-requests/context-endpoints.ts'
import * as mergeRequestsDiff from './merge-requests/diff-endpoints.ts'
import * as mergeRequestsDraft from './merge-requests/draft-endpoints.ts'
import * as mergeRequests from './merge-requests/endpoints.ts'
import * as mergeRequestsIssue from './merge-requests/issue-endpoints.ts'
import * as mergeRequestsMerge from './merge-requests/merge-endpoints.ts'
import * as mergeRequestsMilestone from './merge-requests/milestone-endpoints.ts'
import * as mergeRequestsPeople from './merge-requests/people-endpoints.ts'
import * as mergeRequestsPipeline from './merge-requests/pipeline-endpoints.ts'
import {
  merged as afterMerge,
  autoMerge,
  autoMerges,
  check as checkMergeRequest,
  rebase as rebaseMergeRequest,
  refresh as refreshMergeRequest,
  description as requestDescription,
  tellMergeRequestHooks,
} from './merge-requests/tasks.ts'
import * as milestones from './milestones/endpoints.ts'
import * as namespaces from './namespaces/endpoints.ts'
import * as notificationSettings from './notification-settings/endpoints.ts'
import * as notifications from './notifications/endpoints.ts'
import { warnOfExpiry } from './notifications/expiring-tasks.ts'
import {
  collectNotices,
  forgetSent,
  sendNotification,
  sendPlainMail,
} from './notifications/tasks.ts'
import * as oauthApplication from './oauth/application-endpoints.ts'
import * as oauthAuthorize from './oauth/authorize-endpoints.ts'
import * as oauthDevice from './oauth/device-endpoints.ts'
import * as oauthDiscovery from './oauth/discovery-endpoints.ts'
import { removeExpiredSignIns } from './oauth/tasks.ts'
import * as oauthToken from './oauth/token-endpoints.ts'
import * as projects from './projects/endpoints.ts'
import * as projectsFork from './projects/fork-endpoints.ts'
import { importFromUrl } from './projects/import-url.ts'
import { removeMarked } from './projects/marked-task.ts'
import * as projectsShare from './projects/share-endpoints.ts'
import * as projectsState from './projects/state-endpoints.ts'
import { finishFork, measureProject, removeProject, tidyRepository } from './projects/tasks.ts'
import * as projectsTopic from './projects/topic-endpoints.ts'
import * as projectsUser from './projects/user-endpoints.ts'
import * as protectionsBranch from './protections/branch-endpoints.ts'
import * as protectionsEnvironment from './protections/environment-endpoints.ts'
import * as protectionsTag from './protections/tag-endpoints.ts'
import * as pushRules from './push-rules/endpoints.ts'
import { mentionCommits } from './references/commit-task.ts'
import { forgetPushesTask } from './refs/forget.ts'
import { recoverTask } from './refs/recover.ts'
import { afterPush, afterPushes } from './refs/tasks.ts'
import { extendCommitGraph, upkeep } from './refs/upkeep.ts'
import * as releases from './releases/endpoints.ts'
import * as releasesEvidence from './releases/evidence-endpoints.ts'
import * as releasesGroup from './releases/group-endpoints.ts'
import * as repositoryArchive from './repository/archive-endpoints.ts'
import * as repository from './repository/endpoints.ts'
import * as repositoryHistory from './repository/history-endpoints.ts'
import * as search from './search/endpoints.ts'
import * as serviceAccounts from './service-accounts/endpoints.ts'
import * as serviceAccountsSource from './service-accounts/source-endpoints.ts'
import { recoverSides } from './side-repositories/recover.ts'
import { measureSide, tidySide } from './side-repositories/tasks.ts'
import * as signIn from './sign-in/endpoints.ts'
import * as signInSignUp from './sign-in/sign-up-endpoints.ts'
import * as snippets from './snippets/endpoints.ts'
import * as snippetsNote from './snippets/note-endpoints.ts'
import * as snippetsProject from './snippets/project-endpoints.ts'
import { removeSnippetTask } from './snippets/remove.ts'
import { sweepFilesTask } from './stored-files/sweep.ts'
import * as submodules from './submodules/endpoints.ts'
import * as suggestions from './suggestions/endpoints.ts'
import * as tags from './tags/endpoints.ts'
import * as templates from './templates/endpoints.ts'
import * as templatesProject from './templates/project-endpoints.ts'
import * as todos from './todos/endpoints.ts'
import * as uploads from './uploads/endpoints.ts'
import * as usersAvatar from './users/avatar-endpoints.ts'
import * as usersCurrent from './users/current-endpoints.ts'
import * as usersEmail from './users/email-endpoints.ts'
import * as users from './users/endpoints.ts'
import * as usersLink from './users/link-endpoints.ts'
import * as usersPeople from './users/people-endpoints.ts'
import { removeUserTask } from './users/removal-task.ts'
import * as usersState from './users/state-endpoints.ts'
import * as usersStatus from './users/status-endpoints.ts'
import { sendConfirmation, sendPasswordLink } from './users/tasks.ts'
import * as version from './version/endpoints.ts'
import * as wikis from './wikis/endpoints.ts'

/** What stands in src/api until it has moved into the areas. */
export const apiManifest: Manifest = {
  name: 'api',
  endpoints: endpointsOf(
    accessTokensAssociations,
    accessTokens,
    accessTokensImpersonation,
    accessTokensSource,
    approvalsProject,
    approvalsRequest,
    approvalsSetting,
    auditEvents,
    badges,
    boards,
    branches,
    broadcastMessages,
    changelog,
    commitsComment,
    commitsDiscussion,
    commits,
    commitsWrite,
    compare,
    containerRegistry,
    customAttributes,
    deployTokens,
    events,
    exports,
    exportsGroup,
    exportsRemote,
    files,
    filesWrite,
    gpgKeys,
    graphql,
    groupActivity,
    groupsChange,
    groups,
    groupsProject,
    groupsRelated,
    health,
    hooks,
    hooksGroup,
    hooksLog,
    hooksSystem,
    instance,
    instanceFeature,
    instanceMetrics,
    instanceQueue,
    issues,
    issuesLink,
    issuesMilestone,
    issuesSide,
    keysDeployKey,
    keys,
    labels,
    markdown,
    membersBillable,
    members,
    membersInvitation,
    membersPending,
    membersRequest,
    mergeRequestsBlock,
    mergeRequestsContext,
    mergeRequestsDiff,
    mergeRequestsDraft,
    mergeRequests,
    mergeRequestsIssue,
    mergeRequestsMerge,
    mergeRequestsMilestone,
    mergeRequestsPeople,
    mergeRequestsPipeline,
    milestones,
    namespaces,
    notificationSettings,
    notifications,
    oauthApplication,
    oauthAuthorize,
    oauthDevice,
    oauthDiscovery,
    oauthToken,
    projects,
    projectsFork,
    projectsShare,
    projectsState,
    projectsTopic,
    projectsUser,
    protectionsBranch,
    protectionsEnvironment,
    protectionsTag,
    pushRules,
    releases,
    releasesEvidence,
    releasesGroup,
    repositoryArchive,
    repository,
    repositoryHistory,
    search,
    serviceAccounts,
    serviceAccountsSource,
    signIn,
    signInSignUp,
    snippets,
    snippetsNote,
    snippetsProject,
    submodules,
    suggestions,
    tags,
    templates,
    templatesProject,
    todos,
    uploads,
    usersAvatar,
    usersCurrent,
    usersEmail,
    users,
    usersLink,
    usersPeople,
    usersState,
    usersStatus,
    version,
    wikis,
  ),
  tasks: [
    deleteMergedBranches,
    tellExpiringTokens,
    unassignMember,
    deliverHook,
    forgetDeliveries,
    refreshMergeRequest,
    tellMergeRequestHooks,
    checkMergeRequest,
    autoMerge,
    autoMerges,
    rebaseMergeRequest,
    requestDescription,
    afterMerge,
    exportSource,
    finishFork,
    collectNotices,
    sendNotification,
    sendPlainMail,
    warnOfExpiry,
    forgetSent,
    importFromUrl,
    importProject,
    importRemote,
    measureProject,
    removeBillable,
    removeExpiredMembers,
    removeExpiredSignIns,
    sendInvitation,
    removeGroup,
    removeMarked,
    removeOldExports,
    removeMarkedGroups,
    removeProject,
    tidyRepository,
    afterPush,
    afterPushes,
    extendCommitGraph,
    mentionCommits,
    forgetPushesTask,
    sweepFilesTask,
    recoverTask,
    upkeep,
    measureSide,
    tidySide,
    recoverSides,
    removeSnippetTask,
    removeUserTask,
    sendConfirmation,
    sendPasswordLink,
  ],
  schedules: [
    daily('3:40', forgetDeliveries, {}),
    daily('3:50', forgetPushesTask, {}),
    daily('4:10', sweepFilesTask, {}),
    daily('6:00', tellExpiringTokens, {}),
    every(5 * 60_000, recoverTask, {}),
    every(5 * 60_000, recoverSides, {}),
    daily('0:05', removeExpiredMembers, {}),
    daily('3:45', forgetSent, {}),
    daily('6:10', warnOfExpiry, {}),
    daily('3:10', removeExpiredSignIns, {}),
    daily('3:15', removeMarked, {}),
    daily('3:25', removeOldExports, {}),
    daily('3:20', removeMarkedGroups, {}),
    every(60_000, autoMerges, {}),
  ],
  migrations: [],
}
