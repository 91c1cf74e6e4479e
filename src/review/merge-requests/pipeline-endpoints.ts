import { z } from 'zod'
import { mayInProject } from '../../access/decide.ts'
import { findProjectById } from '../../access/find-queries.ts'
import { onProject, withProjectRole } from '../../access/subjects.ts'
import { methodNotAllowed } from '../../base/problem.ts'
import { createPipeline } from '../../ci/pipelines/create-pipeline.ts'
import { describePipeline, pipelineEntity } from '../../ci/pipelines/describe-pipeline.ts'
import { pipelineBasicEntity, presentPipelineBasic } from '../../ci/pipelines/entity.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { flag } from '../../http/params.ts'
import { listPage } from '../../store/pages.ts'
import { getMergeRequest } from './find.ts'
import { params, path, tags } from './path.ts'
import { listRequestPipelines } from './pipeline-queries.ts'

export const listMergeRequestPipelines = endpoint({
  method: 'GET',
  path: `${path}/pipelines`,
  summary: 'List the pipelines of the commits of a merge request, newest first',
  tags,
  access: onProject('read_merge_requests'),
  params,
  paginate: 'offset',
  response: z.array(pipelineBasicEntity),
  async handler({ ctx, project, params, page }) {
    const row = await getMergeRequest(ctx, project, params.merge_request_iid)
    if (!mayInProject(ctx.actor, project, 'read_builds')) return { items: [], total: 0 }
    const found = await listPage(ctx.db, listRequestPipelines(ctx.db, row.id), page)
    return {
      ...found,
      items: found.items.map((pipeline) => presentPipelineBasic(ctx, project, pipeline)),
    }
  },
})

/**
 * A merge request's pipeline runs on its source branch, in the project that the branch is in, and needs jobs that want
 * merge requests: 400 with the reason when there are none (spec D §1.10).
 */
export const createMergeRequestPipeline = endpoint({
  method: 'POST',
  path: `${path}/pipelines`,
  summary: 'Run a pipeline for a merge request',
  tags,
  access: onProject('read_merge_requests', { signedIn: true }),
  params,
  body: { async: flag().optional() },
  response: pipelineEntity,
  async handler({ ctx, project, params, body }) {
    const row = await getMergeRequest(ctx, project, params.merge_request_iid)
    const found =
      row.source_project_id === null
        ? undefined
        : await findProjectById(ctx.db, row.source_project_id)
    const source = found && (await withProjectRole(ctx, found))
    if (!source || row.state !== 'opened') throw methodNotAllowed()
    if (!mayInProject(ctx.actor, source, 'create_pipeline')) throw methodNotAllowed()
    const wish = { ref: row.source_branch, source: 'merge_request_event' }
    const pipeline = await createPipeline(ctx, source, { ...wish, variables: [], inputs: {} })
    const shown = await describePipeline(ctx, source, pipeline)
    return new Answer(shown, { status: body.async ? 202 : 200 })
  },
})
