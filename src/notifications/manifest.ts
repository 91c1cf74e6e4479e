import { daily } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import { mailAlertSummary } from './alerts/mail-alerts.ts'
import * as events from './events/endpoints.ts'
import { forgetEvents } from './events/forget-task.ts'
import * as groupActivity from './group-activity/endpoints.ts'
import { deliverHook, forgetDeliveries } from './hooks/deliver.ts'
import * as hooks from './hooks/endpoints.ts'
import * as hooksLog from './hooks/log-endpoints.ts'
import { notifyOfDeployment } from './hooks/payloads/deployment-hook.ts'
import { notifyOfExpiringTokens } from './hooks/payloads/expiring-tokens.ts'
import { notifyOfMergeRequest } from './hooks/payloads/merge-request-hook.ts'
import { notifyOfNote } from './hooks/payloads/note-hook.ts'
import { notifyOfPipelineChanges, notifyOfPipelineEnd } from './hooks/payloads/pipeline-hooks.ts'
import { notifyOfReaction } from './hooks/payloads/reaction-hook.ts'
import * as hooksSystem from './hooks/system-endpoints.ts'
import * as notificationSettings from './notification-settings/endpoints.ts'
import { remindOfDueIssues } from './notifications/due-tasks.ts'
import { warnOfExpiry } from './notifications/expiring-tasks.ts'
import { collectNotices, forgetSent, sendNotification } from './notifications/tasks.ts'

export const notificationsArea: Manifest = {
  name: 'notifications',
  endpoints: endpointsOf({
    'group activity': groupActivity,
    'notification settings': notificationSettings,
    'system hooks': hooksSystem,
    events,
    webhooks: [hooks, hooksLog],
  }),
  tasks: [
    notifyOfDeployment,
    notifyOfMergeRequest,
    notifyOfNote,
    notifyOfReaction,
    notifyOfPipelineChanges,
    notifyOfPipelineEnd,
    notifyOfExpiringTokens,
    deliverHook,
    forgetDeliveries,
    collectNotices,
    sendNotification,
    warnOfExpiry,
    remindOfDueIssues,
    forgetSent,
    forgetEvents,
    mailAlertSummary,
  ],
  schedules: [
    daily('6:00', notifyOfExpiringTokens, {}),
    daily('3:40', forgetDeliveries, {}),
    daily('3:45', forgetSent, {}),
    daily('3:50', forgetEvents, {}),
    daily('6:10', warnOfExpiry, {}),
    daily('0:50', remindOfDueIssues, {}),
  ],
  migrations: [],
}
