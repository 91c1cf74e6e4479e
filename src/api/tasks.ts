import type { Ctx } from '../ctx.ts'
import { daily, every, type Schedule } from '../work/schedule.ts'
import type { AnyTask } from '../work/task.ts'
import { tellExpiringTokens } from './access-tokens/tell-expiring.ts'
import { unassignMember } from './assignees/tasks.ts'
import { deleteMergedBranches } from './branches/tasks.ts'
import { exportSource, importProject, importRemote, removeOldExports } from './exports/tasks.ts'
import { removeGroup, removeMarkedGroups } from './groups/remove-group.ts'
import { deliverHook, forgetDeliveries } from './hooks/deliver.ts'
import { removeBillable } from './members/billable-removal.ts'
import { sendInvitation } from './members/invite.ts'
import { removeExpiredMembers } from './members/tasks.ts'
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
import { warnOfExpiry } from './notifications/expiring-tasks.ts'
import {
  collectNotices,
  forgetSent,
  sendNotification,
  sendPlainMail,
} from './notifications/tasks.ts'
import { removeExpiredSignIns } from './oauth/tasks.ts'
import { finishBridge, startBridge, startDelayedJob, tellPipelineEnd } from './pipelines/tasks.ts'
import { tellPipelineChanges } from './pipelines/tell-changes.ts'
import { importFromUrl } from './projects/import-url.ts'
import { removeMarked } from './projects/marked-task.ts'
import { finishFork, measureProject, removeProject, tidyRepository } from './projects/tasks.ts'
import { mentionCommits } from './references/commit-task.ts'
import { forgetPushesTask } from './refs/forget.ts'
import { recoverTask } from './refs/recover.ts'
import { afterPush, afterPushes } from './refs/tasks.ts'
import { extendCommitGraph, upkeep } from './refs/upkeep.ts'
import { recoverSides } from './side-repositories/recover.ts'
import { measureSide, tidySide } from './side-repositories/tasks.ts'
import { removeSnippetTask } from './snippets/remove.ts'
import { sweepFilesTask } from './stored-files/sweep.ts'
import { removeUserTask } from './users/removal-task.ts'
import { sendConfirmation, sendPasswordLink } from './users/tasks.ts'

/** Every background task that the runner may find in the table. */
export const tasks: readonly AnyTask<Ctx>[] = [
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
  finishBridge,
  startBridge,
  startDelayedJob,
  tellPipelineChanges,
  tellPipelineEnd,
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
]

/** What comes round by the clock. */
export const schedules: readonly Schedule[] = [
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
]
