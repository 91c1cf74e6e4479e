import { every } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import * as artifacts from './artifacts/endpoints.ts'
import * as artifactsRunner from './artifacts/runner-endpoints.ts'
import * as commitStatuses from './commit-statuses/endpoints.ts'
import { linkMergeRequests } from './deployments/brought-in.ts'
import * as deployments from './deployments/endpoints.ts'
import * as deploymentsEnvironment from './deployments/environment-endpoints.ts'
import { stopDueEnvironments } from './deployments/tasks.ts'
import * as freezes from './environments/freeze-endpoints.ts'
import * as flagClients from './feature-flags/client-endpoints.ts'
import * as featureFlagEndpoints from './feature-flags/endpoints.ts'
import * as userLists from './feature-flags/user-list-endpoints.ts'
import { endStaleJobs, followJobEnd } from './job-ends/tasks.ts'
import * as jobTokenScopeEndpoints from './job-token-scope/endpoints.ts'
import * as jobs from './jobs/endpoints.ts'
import * as runnerJobs from './jobs/runner-endpoints.ts'
import * as lint from './lint/endpoints.ts'
import * as pipelines from './pipelines/endpoints.ts'
import * as pipelinesJob from './pipelines/job-endpoints.ts'
import {
  finishBridge,
  removeOldPipelines,
  resumePipeline,
  runAfterPush,
  startBridge,
  startDelayedJob,
} from './pipelines/process/tasks.ts'
import * as pipelinesReport from './pipelines/report-endpoints.ts'
import * as protectedEnvironments from './protected-environments/endpoints.ts'
import * as queue from './queue/endpoints.ts'
import * as requestPipelines from './request-pipelines/endpoints.ts'
import { runForRequest } from './request-pipelines/tasks.ts'
import * as resourceGroups from './resource-groups/endpoints.ts'
import * as runnersCreate from './runners/create-endpoint.ts'
import * as runners from './runners/endpoints.ts'
import * as runnersPlace from './runners/place-endpoints.ts'
import * as runnersProtocol from './runners/protocol-endpoints.ts'
import * as schedules from './schedules/endpoints.ts'
import { runSchedule, startDueSchedules } from './schedules/tasks.ts'
import * as scheduleVariables from './schedules/variable-endpoints.ts'
import * as secureFiles from './secure-files/endpoints.ts'
import * as traces from './traces/patch-endpoint.ts'
import * as triggers from './triggers/endpoints.ts'
import * as triggersRun from './triggers/run-endpoints.ts'
import * as variables from './variables/endpoints.ts'

export const ciArea: Manifest = {
  name: 'ci',
  endpoints: endpointsOf({
    'feature flags': [featureFlagEndpoints, flagClients, userLists],
    'freeze periods': freezes,
    'job token scope': jobTokenScopeEndpoints,
    'pipeline schedules': [schedules, scheduleVariables],
    'protected environments': protectedEnvironments,
    'resource groups': resourceGroups,
    'secure files': secureFiles,
    commits: commitStatuses,
    deployments: [deployments, deploymentsEnvironment],
    jobs: [pipelinesJob, artifacts, jobs],
    merge_requests: requestPipelines,
    pipelines: [pipelines, pipelinesReport, lint],
    runners: [
      artifactsRunner,
      queue,
      runnersProtocol,
      runnersPlace,
      runnerJobs,
      runnersCreate,
      traces,
      runners,
    ],
    triggers: [triggers, triggersRun],
    variables,
  }),
  tasks: [
    endStaleJobs,
    finishBridge,
    followJobEnd,
    linkMergeRequests,
    removeOldPipelines,
    resumePipeline,
    runAfterPush,
    runForRequest,
    runSchedule,
    startBridge,
    startDelayedJob,
    startDueSchedules,
    stopDueEnvironments,
  ],
  schedules: [
    every(60_000, endStaleJobs, {}),
    every(600_000, removeOldPipelines, {}),
    every(60_000, startDueSchedules, {}),
    every(60_000, stopDueEnvironments, {}),
  ],
  migrations: [],
}
