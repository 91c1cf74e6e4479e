import { call, may } from '../../http/call/call.ts'
import { hash, id, text } from '../../http/params.ts'
import { getProject } from '../../projects/projects/endpoints.ts'
import { listRepositoryBranches } from '../../repositories/branches/endpoints.ts'
import {
  getProjectTemplate,
  listProjectTemplates,
} from '../../repositories/templates/project-endpoints.ts'
import { createProjectMergeRequest } from '../../review/merge-requests/endpoints.ts'
import { pathOf, withQuery } from '../address.ts'
import { form } from '../form.ts'
import type { PageCtx } from '../page-ctx.ts'
import { Field, Form, RefusalNote } from '../parts/form.tsx'
import { A } from '../parts/link.tsx'
import { type ProjectData, projectPage } from '../project/frame.tsx'
import { RequestFields, readChoices, requestBody } from './request-fields.tsx'
import { requestAddress } from './state.tsx'

const branch = text({ max: 1024 }).optional()

export const newMergeRequestPage = projectPage({
  address: '/-/merge_requests/new',
  summary: 'Open a merge request',
  tab: 'merge_requests',
  signedIn: true,
  query: {
    merge_request: hash({
      source_branch: branch,
      target_branch: branch,
      title: text().optional(),
      /** Where the branch is of a fork. */
      target_project_id: id().optional(),
    }).optional(),
    template: text({ max: 255 }).optional(),
  },
  async read(ctx, { project, query }) {
    const { source_branch: source, target_branch, title, ...into } = query.merge_request ?? {}
    const target = await targetOf(ctx, project, into.target_project_id)
    const [choices, description, branches] = await Promise.all([
      readChoices(ctx, target),
      readTemplates(ctx, target, query.template),
      readBranches(ctx, project),
    ])
    const about = { source, into: target, title: title ?? source }
    return {
      ...about,
      target: target_branch ?? target.default_branch,
      choices,
      ...description,
      branches,
    }
  },
  title: () => 'New merge request',
  view: (data, project) => {
    const { source, target, into, title, choices, templates, description, branches } = data
    const address = requestAddress(project, 'new')
    const now = { title: title ?? '', description, labels: [], milestone: undefined }
    const people = { assignees: [], reviewers: [], squash: false, removes: true }
    const asked = {
      'merge_request[source_branch]': source,
      'merge_request[target_branch]': target,
      'merge_request[title]': title,
      'merge_request[target_project_id]': into.id === project.id ? undefined : into.id,
    }
    return (
      <div class="stack narrow">
        <h1>New merge request</h1>
        <RefusalNote />
        {templates.length > 0 && (
          <p class="row">
            <span class="quiet">Describe it by</span>
            {templates.map((name) => (
              <A key={name} href={withQuery(address, { ...asked, template: name })}>
                {name}
              </A>
            ))}
          </p>
        )}
        {into.id !== project.id && (
          <p>
            From <A href={pathOf(project.path_with_namespace)}>{project.path_with_namespace}</A>{' '}
            into <A href={pathOf(into.path_with_namespace)}>{into.path_with_namespace}</A>
          </p>
        )}
        <Form action={address} class="form">
          {into.id !== project.id && (
            <input type="hidden" name="target_project_id" value={into.id} />
          )}
          <Field
            name="source_branch"
            label="From branch"
            value={source ?? ''}
            input={{ required: true, list: 'branches' }}
          />
          <Field
            name="target_branch"
            label="Into branch"
            value={target ?? ''}
            input={{ required: true, list: 'branches' }}
          />
          <datalist id="branches">
            {branches.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <RequestFields choices={choices} now={{ ...now, ...people }} />
          <button type="submit" class="button primary">
            Open the merge request
          </button>
        </Form>
      </div>
    )
  },
})

/** The project that the branch is to go into: this one, or one that it is a fork of. */
async function targetOf(ctx: PageCtx, project: ProjectData, asked: number | undefined) {
  return asked === undefined || asked === project.id
    ? project
    : await call(getProject, ctx, { path: { id: asked } })
}

async function readBranches(ctx: PageCtx, project: ProjectData): Promise<string[]> {
  const path = { id: project.id }
  if (!(await may(listRepositoryBranches, ctx, { path }))) return []
  const { items } = await call(listRepositoryBranches, ctx, { path, query: { per_page: 100 } })
  return items.map(({ name }) => name)
}

/** The descriptions that the project offers, and the text of the one that was chosen, or is its default. */
async function readTemplates(ctx: PageCtx, project: ProjectData, chosen: string | undefined) {
  const path = { id: project.id, type: 'merge_requests' }
  if (!(await may(listProjectTemplates, ctx, { path }))) return { templates: [], description: '' }
  const { items } = await call(listProjectTemplates, ctx, { path, query: { per_page: 100 } })
  const templates = items.map(({ name }) => name)
  const name = chosen ?? templates.find((one) => one.toLowerCase() === 'default')
  if (name === undefined || !templates.includes(name)) return { templates, description: '' }
  const found = await call(getProjectTemplate, ctx, { path: { ...path, name } })
  return { templates, description: found.content }
}

export const createMergeRequestForm = form({
  address: '/*project/-/merge_requests/new',
  summary: 'Open a merge request',
  endpoint: createProjectMergeRequest,
  page: newMergeRequestPage,
  input: ({ path, fields }) => ({
    path: { id: path.project },
    body: {
      ...requestBody(fields),
      source_branch: fields.source_branch,
      target_branch: fields.target_branch,
      target_project_id: fields.target_project_id,
    },
  }),
  async goTo({ ctx, data }) {
    const project = await call(getProject, ctx, { path: { id: data.target_project_id } })
    return requestAddress(project, data.iid)
  },
})
