import { pathOf } from '../address.ts'
import { PersonLink, Time } from '../parts/basics.tsx'
import { ButtonForm } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'
import type { ProjectData } from '../project/frame.tsx'
import type { RequestView } from './request-data.ts'
import { requestAddress } from './state.tsx'

/** Who merged it and when, the commit that did, and how to take it back. */
export function Merged({ view, project }: { view: RequestView; project: ProjectData }) {
  const { request, may } = view
  const commit = request.merge_commit_sha ?? request.squash_commit_sha ?? request.sha
  const address = requestAddress(project, request.iid)
  return (
    <div class="note">
      <p>
        {'Merged '}
        {request.merge_user && (
          <>
            {'by '}
            <PersonLink of={request.merge_user} />{' '}
          </>
        )}
        <Time at={request.merged_at} /> into <code>{request.target_branch}</code>
        {commit !== null && (
          <>
            {' as '}
            <A class="mono" href={pathOf(project.path_with_namespace, '-', 'commit', commit)}>
              {commit.slice(0, 8)}
            </A>
          </>
        )}
      </p>
      {may.branch && commit !== null && (
        <div class="row">
          <ButtonForm
            action={`${address}/revert`}
            fields={{ sha: commit, kind: 'revert' }}
            label="Revert"
            title="On a branch of its own, for a new merge request"
          />
          <ButtonForm
            action={`${address}/revert`}
            fields={{ sha: commit, kind: 'cherry-pick', onto: project.default_branch ?? '' }}
            label="Cherry-pick"
            title="On a branch of its own, for a new merge request"
          />
        </div>
      )}
    </div>
  )
}
