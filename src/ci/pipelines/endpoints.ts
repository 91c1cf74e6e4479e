import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { badParameters, forbidden, notFound } from '../../base/problem.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, id, instant, oneOf, text } from '../../http/params.ts'
import {
  pipelineBasicEntity,
  presentPipelineBasic,
} from '../../repositories/commits/pipeline-entity.ts'
import { defaultRef } from '../../repositories/repository/access.ts'
import { ifFound } from '../../repositories/repository/missing.ts'
import {
  getPipeline,
  onBuilds,
  onPipeline,
  runsOnGivenRef,
  runsOnRef,
  setsRunVariables,
} from './access.ts'
import { createPipeline } from './create/create-pipeline.ts'
import { findPipelineRef } from './create/find-ref.ts'
import { runInputs, runVariables } from './create/run-params.ts'
import { VARIABLE_PURPOSE } from './create/save-pipeline.ts'
import { describePipeline, pipelineEntity } from './describe-pipeline.ts'
import { cancelPipeline, retryPipeline } from './process/change-jobs.ts'
import { findNewestPipeline, listPipelines, listVariables, updatePipeline } from './queries.ts'
import { removePipeline } from './remove-pipeline.ts'
import { ASKED_STATUSES } from './statuses.ts'

const params = { pipeline_id: id() }

export const createProjectPipeline = endpoint({
  method: 'POST',
  path: '/projects/:id/pipeline',
  summary: 'Run a pipeline for a branch or tag',
  access: onProject('create_pipeline'),
  conditions: [runsOnGivenRef, setsRunVariables],
  body: { ref: text(), variables: runVariables().optional(), inputs: runInputs().optional() },
  response: pipelineEntity,
  status: 201,
  async handler({ ctx, project, body }) {
    const { ref, variables = [], inputs = {} } = body
    const at = await findPipelineRef(ctx, project, ref)
    const row = await createPipeline(ctx, project, at, { ref, source: 'api', variables, inputs })
    return await describePipeline(ctx, project, row)
  },
})

export const listProjectPipelines = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines',
  summary: 'List the pipelines of a project',
  access: onBuilds(),
  jobToken: true,
  query: {
    scope: oneOf(['running', 'pending', 'finished', 'branches', 'tags']).optional(),
    status: oneOf(ASKED_STATUSES).optional(),
    source: text().optional(),
    ref: text().optional(),
    sha: text().optional(),
    name: text().optional(),
    username: text().optional(),
    yaml_errors: flag().optional(),
    updated_before: instant().optional(),
    updated_after: instant().optional(),
    created_before: instant().optional(),
    created_after: instant().optional(),
    order_by: oneOf(['id', 'status', 'ref', 'updated_at', 'user_id']).default('id'),
    sort: oneOf(['asc', 'desc']).default('desc'),
  },
  paginate: 'offset',
  response: z.array(pipelineBasicEntity),
  async handler({ ctx, project, query, page }) {
    const rows = await listPipelines(ctx.db, project.id, query, page)
    return { ...rows, items: rows.items.map((row) => presentPipelineBasic(ctx, project, row)) }
  },
})

export const getLatestPipeline = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/latest',
  summary: 'Read the newest pipeline of the last commit of a branch or tag',
  access: onBuilds(),
  query: { ref: text().optional() },
  response: pipelineEntity,
  async handler({ ctx, project, query }) {
    const ref = query.ref || defaultRef(project)
    const repo = ctx.git.open(project.id)
    const found = await ifFound(resolveRevision(repo, ref))
    // A ref that nobody has is refused as if it were not for the caller's eyes (docs/contract/D §1.15).
    if (!found) throw forbidden()
    const only = { ref: ref.replace(/^refs\/(heads|tags)\//, '') }
    const row = await findNewestPipeline(ctx.db, project.id, found.commitId, only)
    if (!row) throw notFound()
    return await describePipeline(ctx, project, row)
  },
})

export const getProjectPipeline = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id',
  summary: 'Read a pipeline',
  access: onBuilds(),
  jobToken: true,
  params,
  response: pipelineEntity,
  async handler({ ctx, project, params }) {
    const row = await getPipeline(ctx, project, params.pipeline_id)
    return await describePipeline(ctx, project, row)
  },
})

const variableEntity = z.strictObject({
  key: z.string(),
  value: z.string(),
  variable_type: z.enum(['env_var', 'file']),
  raw: z.boolean(),
})

export const listPipelineVariables = endpoint({
  method: 'GET',
  path: '/projects/:id/pipelines/:pipeline_id/variables',
  summary: 'List the variables of a pipeline',
  access: onPipeline(),
  conditions: [runsOnRef],
  response: z.array(variableEntity),
  async handler({ ctx, pipeline }) {
    const variables = await listVariables(ctx.db, pipeline.id)
    return variables.map(({ key, sealed_value, variable_type, raw }) => ({
      key,
      value: ctx.vault.open(sealed_value, VARIABLE_PURPOSE),
      variable_type,
      raw: raw === 1,
    }))
  },
})

export const retryProjectPipeline = endpoint({
  method: 'POST',
  path: '/projects/:id/pipelines/:pipeline_id/retry',
  summary: 'Retry the failed and canceled jobs of a pipeline',
  access: onPipeline(),
  conditions: [runsOnRef],
  response: pipelineEntity,
  status: 201,
  async handler({ ctx, project, pipeline }) {
    await retryPipeline(ctx, pipeline.id)
    return await describePipeline(ctx, project, await getPipeline(ctx, project, pipeline.id))
  },
})

export const cancelProjectPipeline = endpoint({
  method: 'POST',
  path: '/projects/:id/pipelines/:pipeline_id/cancel',
  summary: 'Cancel the jobs of a pipeline that have not ended',
  access: onPipeline(),
  conditions: [runsOnRef],
  status: 200,
  response: pipelineEntity,
  async handler({ ctx, project, pipeline }) {
    await cancelPipeline(ctx, pipeline.id)
    return await describePipeline(ctx, project, await getPipeline(ctx, project, pipeline.id))
  },
})

export const updatePipelineMetadata = endpoint({
  method: 'PUT',
  path: '/projects/:id/pipelines/:pipeline_id/metadata',
  summary: 'Name a pipeline',
  access: onPipeline(),
  jobToken: true,
  conditions: [runsOnRef],
  body: { name: text() },
  response: pipelineEntity,
  async handler({ ctx, project, pipeline, body }) {
    if (body.name.length > 255) {
      throw badParameters('name is too long (maximum is 255 characters)')
    }
    await updatePipeline(ctx.db, pipeline.id, { name: body.name || null }, ctx.now())
    return await describePipeline(ctx, project, await getPipeline(ctx, project, pipeline.id))
  },
})

export const deleteProjectPipeline = endpoint({
  method: 'DELETE',
  path: '/projects/:id/pipelines/:pipeline_id',
  summary: 'Delete a pipeline with its jobs',
  access: onPipeline('delete_pipeline'),
  handler: ({ ctx, pipeline }) => removePipeline(ctx, pipeline),
})
