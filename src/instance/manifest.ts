import { forgetDeadTasks } from '../background/forget.ts'
import { daily } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import { health as healthTable } from '../store/migrations/0341-health.ts'
import * as auditEvents from './audit-events/endpoints.ts'
import * as backups from './backups/endpoints.ts'
import { createScheduledBackup } from './backups/tasks.ts'
import * as broadcastMessages from './broadcast-messages/endpoints.ts'
import * as exports from './exports/endpoints.ts'
import * as exportsGroup from './exports/group-endpoints.ts'
import {
  exportSource,
  importGroupsBelow,
  importProject,
  importRemote,
  removeOldExports,
} from './exports/tasks.ts'
import * as graphql from './graphql/endpoints.ts'
import * as healthChecks from './health/check-endpoints.ts'
import * as health from './health/endpoints.ts'
import { checkHealth } from './health/tasks.ts'
import * as instance from './instance/endpoints.ts'
import * as instanceFeature from './instance/feature-endpoints.ts'
import * as instanceMetrics from './instance/metrics-endpoints.ts'
import * as instanceQueue from './instance/queue-endpoints.ts'
import * as search from './search/endpoints.ts'
import * as sshHostKeys from './ssh-host-keys/endpoints.ts'
import * as version from './version/endpoints.ts'

export const instanceArea: Manifest = {
  name: 'instance',
  endpoints: endpointsOf({
    'audit events': auditEvents,
    backups,
    'broadcast messages': broadcastMessages,
    'import and export': [exports, exportsGroup],
    graphql,
    health: [health, healthChecks, instanceMetrics],
    instance: [instance, instanceFeature, instanceQueue],
    search,
    'ssh host keys': sshHostKeys,
    version,
  }),
  tasks: [
    exportSource,
    importGroupsBelow,
    importProject,
    importRemote,
    removeOldExports,
    forgetDeadTasks,
    createScheduledBackup,
    checkHealth,
  ],
  schedules: [daily('3:25', removeOldExports, {}), daily('3:35', forgetDeadTasks, {})],
  migrations: [healthTable],
}
