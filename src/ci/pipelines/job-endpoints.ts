import { z } from 'zod'
import { fieldsIgnoredUnless } from '../../access/conditions.ts'
import type { Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, id, list, oneOf } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { deploysThere, getPipeline, onBuilds, runsOnRef, setsJobVariables } from './access.ts'
import { runInputs, runVariables } from './create/run-params.ts'
import { VARIABLE_PURPOSE } from './create/save-pipeline.ts'
import { onRunnableJob } from './job-access.ts'
import { bridgeEntity, jobEntity, jobPresenter } from './job-entity.ts'
import { findJob, type JobRow, selectPipelineJobs, selectProjectJobs } from './job-queries.ts'
import { cancelJob, playJob, retryJob } from './process/change-jobs.ts'
import { downstreamByJob } from './queries.ts'
import { ASKED_STATUSES, type AskedStatus } from './statuses.ts'

const params = { job_id: id() }
const scope = list(oneOf(ASKED_STATUSES)).default([])

export const listProjectJobs = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs',
  summary: 'List the jobs of a project, newest first',
  jobToken: true,
  access: onBuilds({ signedIn: true }),
  query: { scope },
  paginate: { keyset: ['id'], defaultSort: 'desc', offset: true },
  response: z.array(jobEntity),
  async handler({ ctx, project, query, page }) {
    const jobs = selectProjectJobs(ctx.db, project.id, query.scope)
    const rows = await listPage(ctx.db, jobs, page, {
      id: 'ci_jobs.id',
      idOf: (row) => row.id,
      keys: {},
      uncounted: true,
    })
    const presenter = await jobPresenter(ctx, project, rows.items)
    return { ...rows, items: rows.items.map((row) => presenter.job(row)) }
  },
})

const ofPipeline = {
  params: { pipeline_id: id() },
  query: { scope, include_retried: flag().default(false) },
} as const

function jobsOfPipeline(
  ctx: Ctx,
  pipeline: { readonly id: number },
  kind: 'build' | 'bridge',
  query: { readonly scope: readonly AskedStatus[]; readonly include_retried: boolean },
) {
  return selectPipelineJobs(ctx.db, pipeline.id, {
    kind,
    statuses: query.scope,
    includeRetried: query.include_retried,
  })
}

export const listPipelineJobs = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/jobs',
  summary: 'List the jobs of a pipeline, newest first',
  jobToken: true,
  access: onBuilds(),
  ...ofPipeline,
  paginate: 'offset',
  response: z.array(jobEntity),
  async handler({ ctx, project, params, query, page }) {
    const pipeline = await getPipeline(ctx, project, params.pipeline_id)
    const rows = await listPage(ctx.db, jobsOfPipeline(ctx, pipeline, 'build', query), page)
    const presenter = await jobPresenter(ctx, project, rows.items)
    return { ...rows, items: rows.items.map((row) => presenter.job(row)) }
  },
})

export const listPipelineBridges = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/bridges',
  summary: 'List the trigger jobs of a pipeline',
  access: onBuilds(),
  ...ofPipeline,
  paginate: 'offset',
  response: z.array(bridgeEntity),
  async handler({ ctx, project, params, query, page }) {
    const pipeline = await getPipeline(ctx, project, params.pipeline_id)
    const rows = await listPage(ctx.db, jobsOfPipeline(ctx, pipeline, 'bridge', query), page)
    const presenter = await jobPresenter(ctx, project, rows.items)
    const downstream = await downstreamByJob(
      ctx.db,
      rows.items.map((row) => row.id),
    )
    return {
      ...rows,
      items: rows.items.map((row) => presenter.bridge(row, downstream.get(row.id))),
    }
  },
})

async function getJob(ctx: Ctx, project: Project, jobId: number): Promise<JobRow> {
  const row = await findJob(ctx.db, project.id, jobId)
  if (!row) throw notFound()
  return row
}

async function presentJob(ctx: Ctx, project: Project, jobId: number) {
  const row = await getJob(ctx, project, jobId)
  return (await jobPresenter(ctx, project, [row])).job(row)
}

export const getProjectJob = endpoint({
  method: 'GET',
  path: '/projects/:id/jobs/:job_id',
  summary: 'Read a job',
  access: onBuilds({ signedIn: true }),
  params,
  response: jobEntity,
  handler: ({ ctx, project, params }) => presentJob(ctx, project, params.job_id),
})

export const cancelProjectJob = endpoint({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/cancel',
  summary: 'Cancel a job',
  access: onRunnableJob(),
  conditions: [runsOnRef, fieldsIgnoredUnless('admin_build', ['force'])],
  body: { force: flag().default(false) },
  response: jobEntity,
  status: 201,
  async handler({ ctx, project, job, body }) {
    await cancelJob(ctx, job, { force: body.force })
    return await presentJob(ctx, project, job.id)
  },
})

export const retryProjectJob = endpoint({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/retry',
  summary: 'Run a job again',
  access: onRunnableJob(),
  conditions: [runsOnRef, deploysThere],
  body: { job_inputs: runInputs().optional() },
  response: jobEntity,
  status: 201,
  async handler({ ctx, project, job, body }) {
    return await presentJob(ctx, project, await retryJob(ctx, job.id, body.job_inputs))
  },
})

export const playProjectJob = endpoint({
  method: 'POST',
  path: '/projects/:id/jobs/:job_id/play',
  summary: 'Start a manual job',
  access: onRunnableJob(),
  conditions: [runsOnRef, deploysThere, setsJobVariables],
  body: {
    job_variables_attributes: runVariables().optional(),
    job_inputs: runInputs().optional(),
  },
  response: jobEntity,
  status: 200,
  async handler({ ctx, project, job, body }) {
    const { job_variables_attributes: variables = [] } = body
    const sealed =
      variables.length === 0 ? null : ctx.vault.seal(JSON.stringify(variables), VARIABLE_PURPOSE)
    await playJob(ctx, job.id, sealed, body.job_inputs)
    return await presentJob(ctx, project, job.id)
  },
})
