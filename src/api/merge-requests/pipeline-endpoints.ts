import { z } from 'zod'
import { mayInProject } from '../../access/decide.ts'
import { onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { listPage } from '../../store/pages.ts'
import { pipelineBasicEntity, presentPipelineBasic } from '../pipelines/entity.ts'
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
