import { call } from '../../http/call/call.ts'
import { integer } from '../../http/params.ts'
import { listMergeRequestCommits } from '../../review/merge-requests/diff/endpoints.ts'
import { getProjectMergeRequest } from '../../review/merge-requests/endpoints.ts'
import { apiPath, withQuery } from '../address.ts'
import { Blank, Pages } from '../parts/basics.tsx'
import { CommitLine } from '../parts/commit-line.tsx'
import { projectPage } from '../project/frame.tsx'
import { RequestHead, requestAddress } from './state.tsx'

const COMMITS = 40

export const mergeRequestCommitsPage = projectPage({
  address: '/-/merge_requests/:iid/commits',
  summary: 'Commits of a merge request',
  tab: 'merge_requests',
  query: { page: integer({ min: 1 }).default(1) },
  api: ({ project, iid, query }) =>
    withQuery(apiPath(project, 'merge_requests', iid, 'commits'), query),
  async read(ctx, { project, iid, query: { page } }) {
    const path = { id: project.id, merge_request_iid: iid }
    const [request, commits] = await Promise.all([
      call(getProjectMergeRequest, ctx, { path }),
      call(listMergeRequestCommits, ctx, { path, query: { page, per_page: COMMITS } }),
    ])
    return { request, commits, page }
  },
  title: ({ request }) => `Commits of ${request.title} · !${request.iid}`,
  view: ({ request, commits, page }, project) => (
    <div class="stack">
      <RequestHead project={project} request={request} current="commits" />
      {commits.items.length === 0 && <Blank icon="git-commit" title="No commits" />}
      <ul class="list">
        {commits.items.map((commit) => (
          <li key={commit.id}>
            <CommitLine project={project.path_with_namespace} commit={commit} />
          </li>
        ))}
      </ul>
      <Pages
        page={page}
        perPage={COMMITS}
        more={commits.more}
        address={requestAddress(project, request.iid, 'commits')}
      />
    </div>
  ),
})
