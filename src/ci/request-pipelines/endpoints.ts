import { z } from 'zod'
import { onProject } from '../../access/subjects.ts'
import { methodNotAllowed } from '../../base/problem.ts'
import { Answer, endpoint } from '../../http/endpoint.ts'
import { flag } from '../../http/params.ts'
import {
  pipelineBasicEntity,
  presentPipelineBasic,
} from '../../repositories/commits/pipeline-entity.ts'
import { getMergeRequest } from '../../review/merge-requests/find.ts'
import { params, path, tags } from '../../review/merge-requests/path.ts'
import { listPage } from '../../store/pages.ts'
import { mayReadBuilds } from '../pipelines/access.ts'
import { createPipeline } from '../pipelines/create/create-pipeline.ts'
import { describePipeline, pipelineEntity } from '../pipelines/describe-pipeline.ts'
import { findRequestRun } from './create-for-request.ts'
import { listRequestPipelines } from './queries.ts'

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
    if (!mayReadBuilds(ctx, project)) return { items: [], total: 0 }
    const found = await listPage(ctx.db, listRequestPipelines(ctx.db, row.id), page)
    return {
      ...found,
      items: found.items.map((pipeline) => presentPipelineBasic(ctx, project, pipeline)),
    }
  },
})

/**
 * A merge request's pipeline runs on its source branch, in the project that the branch is in, and needs jobs that want
 * merge requests: 400 with the reason when there are none (docs/contract/D §1.10).
 */
export const createMergeRequestPipeline = endpoint({
  method: 'POST',
  path: `${path}/pipelines`,
  summary: 'Run a pipeline for a merge request',
  tags,
  access: onProject('read_merge_requests', { signedIn: true }),
  params,
  body: { async: flag().optional() },
  status: 200,
  response: pipelineEntity,
  async handler({ ctx, project, params, body }) {
    const row = await getMergeRequest(ctx, project, params.merge_request_iid)
    const run = row.state === 'opened' ? await findRequestRun(ctx, row) : undefined
    if (!run) throw methodNotAllowed()
    const pipeline = await createPipeline(ctx, run.project, run.at, {
      ref: run.at.ref,
      source: 'merge_request_event',
      variables: [],
      inputs: {},
      request: run.request,
    })
    const shown = await describePipeline(ctx, run.project, pipeline)
    return new Answer(shown, { status: body.async ? 202 : 200 })
  },
})
