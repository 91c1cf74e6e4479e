import { every } from '../background/schedule.ts'
import { endpointsOf, type Manifest } from '../manifest.ts'
import { ciRunners } from '../store/migrations/0160-ci-runners.ts'
import { ciWork } from '../store/migrations/0161-ci-work.ts'
import { ciVariables } from '../store/migrations/0162-ci-variables.ts'
import { pipelineOrigins } from '../store/migrations/0163-pipeline-origins.ts'
import { requestVariables } from '../store/migrations/0164-request-variables.ts'
import { triggersAndSchedules } from '../store/migrations/0165-triggers-and-schedules.ts'
import * as artifacts from './artifacts/endpoints.ts'
import * as artifactsRunner from './artifacts/runner-endpoints.ts'
import * as commitStatuses from './commit-statuses/endpoints.ts'
import { endStaleJobs, followJobEnd } from './job-ends/tasks.ts'
import * as jobs from './jobs/endpoints.ts'
import * as lint from './lint/endpoints.ts'
import * as pipelines from './pipelines/endpoints.ts'
import * as pipelinesJob from './pipelines/job-endpoints.ts'
import * as pipelinesReport from './pipelines/report-endpoints.ts'
import {
  finishBridge,
  resumePipeline,
  runAfterPush,
  startBridge,
  startDelayedJob,
} from './pipelines/tasks.ts'
import * as queue from './queue/endpoints.ts'
import * as requestPipelines from './request-pipelines/endpoints.ts'
import { runForRequest } from './request-pipelines/tasks.ts'
import * as runnersCreate from './runners/create-endpoint.ts'
import * as runners from './runners/endpoints.ts'
import * as runnersProtocol from './runners/protocol-endpoints.ts'
import * as schedules from './schedules/endpoints.ts'
import { runSchedule, startDueSchedules } from './schedules/tasks.ts'
import * as scheduleVariables from './schedules/variable-endpoints.ts'
import * as traces from './traces/patch-endpoint.ts'
import * as triggers from './triggers/endpoints.ts'
import * as triggersRun from './triggers/run-endpoints.ts'
import * as variables from './variables/endpoints.ts'

export const ciArea: Manifest = {
  name: 'ci',
  endpoints: endpointsOf(
    commitStatuses,
    pipelines,
    pipelinesJob,
    pipelinesReport,
    requestPipelines,
    runnersCreate,
    runnersProtocol,
    queue,
    traces,
    artifactsRunner,
    artifacts,
    jobs,
    lint,
    runners,
    schedules,
    scheduleVariables,
    triggers,
    triggersRun,
    variables,
  ),
  tasks: [
    endStaleJobs,
    finishBridge,
    followJobEnd,
    resumePipeline,
    runAfterPush,
    runForRequest,
    runSchedule,
    startBridge,
    startDelayedJob,
    startDueSchedules,
  ],
  schedules: [every(60_000, endStaleJobs, {}), every(60_000, startDueSchedules, {})],
  migrations: [
    ciRunners,
    ciWork,
    ciVariables,
    pipelineOrigins,
    requestVariables,
    triggersAndSchedules,
  ],
}
