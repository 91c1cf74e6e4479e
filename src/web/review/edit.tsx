import { call } from '../../http/call/call.ts'
import {
  getProjectMergeRequest,
  updateProjectMergeRequest,
} from '../../review/merge-requests/endpoints.ts'
import { apiPath } from '../address.ts'
import { form } from '../form.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'
import { projectPage } from '../project/frame.tsx'
import { requestOf } from './forms.ts'
import { RequestFields, readChoices, requestBody } from './request-fields.tsx'
import { requestAddress } from './state.tsx'

export const editMergeRequestPage = projectPage({
  address: '/-/merge_requests/:iid/edit',
  summary: 'Edit a merge request',
  tab: 'merge_requests',
  signedIn: true,
  api: ({ project, iid }) => apiPath(project, 'merge_requests', iid),
  async read(ctx, { project, iid }) {
    const path = { id: project.id, merge_request_iid: iid }
    const [request, choices] = await Promise.all([
      call(getProjectMergeRequest, ctx, { path }),
      readChoices(ctx, project),
    ])
    return { request, choices }
  },
  title: ({ request }) => `Edit ${request.title} · !${request.iid}`,
  view: ({ request, choices }, project) => {
    const address = requestAddress(project, request.iid)
    const now = {
      title: request.title,
      description: request.description ?? '',
      labels: request.labels.map((label) => (typeof label === 'string' ? label : label.name)),
      milestone: request.milestone?.id,
      assignees: request.assignees.map(({ id }) => id),
      reviewers: request.reviewers.map(({ id }) => id),
      squash: request.squash,
      removes: request.force_remove_source_branch === true,
    }
    return (
      <div class="stack narrow">
        <h1>
          Edit <A href={address}>!{request.iid}</A>
        </h1>
        <RefusalNote />
        <Form action={`${address}/edit`} class="form">
          <RequestFields choices={choices} now={now} />
          <Field name="target_branch" label="Into branch" value={request.target_branch} />
          <button type="submit" class="button primary">
            Save the changes
          </button>
        </Form>
      </div>
    )
  },
})

export const editMergeRequestForm = form({
  address: '/*project/-/merge_requests/:iid/edit',
  summary: 'Change a merge request',
  endpoint: updateProjectMergeRequest,
  page: editMergeRequestPage,
  input: ({ path, fields }) => ({
    path: requestOf(path),
    body: { ...requestBody(fields), target_branch: fields.target_branch },
  }),
  goTo: ({ path }) => requestAddress({ path_with_namespace: path.project }, path.iid),
  flash: 'The merge request was changed.',
})
