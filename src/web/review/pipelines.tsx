import {
  createMergeRequestPipeline,
  listMergeRequestPipelines,
} from '../../ci/request-pipelines/endpoints.ts'
import { call, may } from '../../http/call/call.ts'
import { integer } from '../../http/params.ts'
import {
  getProjectMergeRequest,
  updateProjectMergeRequest,
} from '../../review/merge-requests/endpoints.ts'
import { apiPath, withQuery } from '../address.ts'
import { form } from '../form.ts'
import { Blank, Pages, Time } from '../parts/basics.tsx'
import { ButtonForm } from '../parts/form.tsx'
import { PipelineState } from '../parts/pipeline-state.tsx'
import { projectPage } from '../project/frame.tsx'
import { requestOf } from './forms.ts'
import { RequestHead, requestAddress } from './state.tsx'

const PER_PAGE = 30

export const mergeRequestPipelinesPage = projectPage({
  address: '/-/merge_requests/:iid/pipelines',
  summary: 'Pipelines of a merge request',
  tab: 'merge_requests',
  query: { page: integer({ min: 1 }).default(1) },
  api: ({ project, iid, query }) =>
    withQuery(apiPath(project, 'merge_requests', iid, 'pipelines'), query),
  async read(ctx, { project, iid, query: { page } }) {
    const path = { id: project.id, merge_request_iid: iid }
    const [request, mayRead, mayRun] = await Promise.all([
      call(getProjectMergeRequest, ctx, { path }),
      may(listMergeRequestPipelines, ctx, { path }),
      may(updateProjectMergeRequest, ctx, { path }),
    ])
    const query = { page, per_page: PER_PAGE }
    const pipelines = mayRead
      ? await call(listMergeRequestPipelines, ctx, { path, query })
      : undefined
    return { request, pipelines, mayRun, page }
  },
  title: ({ request }) => `Pipelines of ${request.title} · !${request.iid}`,
  view: ({ request, pipelines, mayRun, page }, project) => {
    const address = requestAddress(project, request.iid, 'pipelines')
    return (
      <div class="stack">
        <RequestHead project={project} request={request} current="pipelines" />
        {mayRun && request.state === 'opened' && (
          <div>
            <ButtonForm action={address} label="Run a pipeline" />
          </div>
        )}
        {!pipelines?.items.length && (
          <Blank icon="workflow" title="No pipelines">
            <p>One runs for each push where the repository says what its jobs are.</p>
          </Blank>
        )}
        <ul class="list">
          {pipelines?.items.map((pipeline) => (
            <li key={pipeline.id}>
              <PipelineState status={pipeline.status} />
              <div class="main">
                <span class="title">#{pipeline.id}</span>
                <p class="facts">
                  <code>{pipeline.ref}</code> · <code>{pipeline.sha.slice(0, 8)}</code> ·{' '}
                  <Time at={pipeline.created_at} />
                </p>
              </div>
            </li>
          ))}
        </ul>
        <Pages
          page={page}
          perPage={PER_PAGE}
          total={pipelines?.total}
          more={pipelines?.more}
          address={address}
        />
      </div>
    )
  },
})

export const runMergeRequestPipeline = form({
  address: '/*project/-/merge_requests/:iid/pipelines',
  summary: 'Run a pipeline for a merge request',
  endpoint: createMergeRequestPipeline,
  input: ({ path }) => ({ path: requestOf(path) }),
  flash: 'The pipeline was started.',
})
