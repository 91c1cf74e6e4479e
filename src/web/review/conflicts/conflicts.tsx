import { call } from '../../../http/call/call.ts'
import {
  getMergeRequestConflicts,
  resolveMergeRequestConflicts,
} from '../../../review/merge-requests/conflicts/endpoints.ts'
import { getProjectMergeRequest } from '../../../review/merge-requests/endpoints.ts'
import { apiPath } from '../../address.ts'
import { useShown } from '../../context.ts'
import { form } from '../../form.ts'
import { Blank, counted } from '../../parts/basics.tsx'
import { Field, Form, RefusalNote } from '../../parts/form.tsx'
import { A } from '../../parts/link.tsx'
import { type ProjectData, projectPage } from '../../project/frame.tsx'
import type { RequestData } from '../blockers.tsx'
import { requestOf } from '../forms.ts'
import { requestAddress } from '../state.tsx'
import { Conflicts } from './by-git.tsx'
import { filesOf } from './fields.ts'
import { type ConflictsData, FileConflicts } from './file.tsx'

/** Texts of as many files as a page shows, with what forms put around them. */
const LARGEST_FORM = 16 * 1024 * 1024

export const resolveConflictsPage = projectPage({
  address: '/-/merge_requests/:iid/conflicts',
  summary: 'The conflicts of a merge request',
  tab: 'merge_requests',
  api: ({ project, iid }) => apiPath(project, 'merge_requests', iid, 'conflicts'),
  async read(ctx, { project, iid }) {
    const path = { id: project.id, merge_request_iid: iid }
    const [request, conflicts] = await Promise.all([
      call(getProjectMergeRequest, ctx, { path }),
      call(getMergeRequestConflicts, ctx, { path }),
    ])
    return { request, conflicts }
  },
  title: ({ request }) => `Conflicts of ${request.title} · !${request.iid}`,
  view: (data, project) => <Page {...data} project={project} />,
})

interface Props {
  readonly request: RequestData
  readonly conflicts: ConflictsData
  readonly project: ProjectData
}

function Page({ request, conflicts, project }: Props) {
  const address = requestAddress(project, request.iid)
  const { files, can_resolve: mayResolve } = conflicts
  return (
    <div class="stack">
      <h1>
        Conflicts of <A href={address}>!{request.iid}</A>
      </h1>
      <p>
        <code>{request.source_branch}</code> takes <code>{request.target_branch}</code> in:{' '}
        {counted(files.length, 'file')}
        {conflicts.overflow && ' and more'}
      </p>
      <RefusalNote />
      <Moved conflicts={conflicts} />
      {files.length === 0 && (
        <Blank icon="check" title="No conflicts">
          <p>
            <A href={address}>Back to the merge request</A>
          </p>
        </Blank>
      )}
      {mayResolve ? (
        <ResolveForm {...{ request, conflicts, project }} />
      ) : (
        <>
          {files.length > 0 && <WhyNot conflicts={conflicts} />}
          {files.map((file) => (
            <FileConflicts key={file.path} file={file} request={request} />
          ))}
          {files.length > 0 && <Conflicts request={request} project={project} />}
        </>
      )}
    </div>
  )
}

function WhyNot({ conflicts: { files, overflow } }: { conflicts: ConflictsData }) {
  const isBeyond = overflow || files.some(({ parts }) => parts === null)
  return (
    <p class="note warning">
      {isBeyond
        ? 'Not all of these conflicts can be resolved here: use git, as below.'
        : 'Whoever may push to the source branch resolves them.'}
    </p>
  )
}

/** Shown where a branch moved since the form was opened. */
function Moved({ conflicts }: { conflicts: ConflictsData }) {
  const { refused } = useShown()
  const { source_sha: source, target_sha: target } = refused?.values ?? {}
  if (!refused || (source === conflicts.source_sha && target === conflicts.target_sha)) return null
  return <p class="note warning">These are the conflicts as they are now.</p>
}

function ResolveForm({ request, conflicts, project }: Props) {
  const { source_sha: source, target_sha: target, files } = conflicts
  return (
    <Form action={`${requestAddress(project, request.iid)}/conflicts`} class="stack">
      <input type="hidden" name="source_sha" value={source ?? ''} />
      <input type="hidden" name="target_sha" value={target ?? ''} />
      {files.map((file, index) => (
        <FileConflicts key={file.path} file={file} request={request} index={index} />
      ))}
      <Field
        name="commit_message"
        label="Commit message"
        area={{ rows: 3 }}
        value={`Merge branch '${request.target_branch}' into '${request.source_branch}'`}
      />
      <p>
        <button type="submit" class="button primary">
          Commit to the source branch
        </button>
      </p>
    </Form>
  )
}

export const resolveConflictsForm = form({
  address: '/*project/-/merge_requests/:iid/conflicts',
  summary: 'Resolve the conflicts of a merge request',
  endpoint: resolveMergeRequestConflicts,
  page: resolveConflictsPage,
  maxBody: LARGEST_FORM,
  input: ({ path, fields }) => ({
    path: requestOf(path),
    body: {
      source_sha: fields.source_sha,
      target_sha: fields.target_sha,
      commit_message: fields.commit_message,
      files: filesOf(fields),
    },
  }),
  goTo: ({ path }) => requestAddress({ path_with_namespace: path.project }, path.iid),
  flash: 'The conflicts were resolved.',
})
