import { endpointsOf, type Manifest } from '../manifest.ts'
import { ciRunners } from '../store/migrations/0160-ci-runners.ts'
import { ciWork } from '../store/migrations/0161-ci-work.ts'
import { ciVariables } from '../store/migrations/0162-ci-variables.ts'
import { pipelineOrigins } from '../store/migrations/0163-pipeline-origins.ts'
import * as commitStatuses from './commit-statuses/endpoints.ts'
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
import * as requestPipelines from './request-pipelines/endpoints.ts'
import { runForRequest } from './request-pipelines/tasks.ts'

export const ciArea: Manifest = {
  name: 'ci',
  endpoints: endpointsOf(
    commitStatuses,
    pipelines,
    pipelinesJob,
    pipelinesReport,
    requestPipelines,
  ),
  tasks: [finishBridge, resumePipeline, runAfterPush, runForRequest, startBridge, startDelayedJob],
  schedules: [],
  migrations: [ciRunners, ciWork, ciVariables, pipelineOrigins],
}
