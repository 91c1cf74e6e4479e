import { anyone, onProject, signedIn } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, id, oneOf, text } from '../../http/params.ts'
import { projectBodyParams } from './body-params.ts'
import { createProject } from './create-project.ts'
import { projectBasicEntity, projectEntity, projectListEntity } from './entity.ts'
import { projectListParams, projectPages } from './list-params.ts'
import { listProjects } from './list-projects.ts'
import { presentProject, readProject } from './present.ts'
import { sentSettings } from './settings.ts'
import { sentTopics } from './topics.ts'

const tags = ['projects']

export const getProjects = endpoint({
  method: 'GET',
  path: '/projects',
  summary: 'List the projects that the caller sees',
  tags,
  access: anyone(),
  query: projectListParams,
  paginate: projectPages,
  response: projectListEntity,
  handler: ({ ctx, query, page }) => listProjects(ctx, { kind: 'all' }, query, page),
})

export const postProject = endpoint({
  method: 'POST',
  path: '/projects',
  summary: 'Create a project',
  tags,
  access: signedIn(),
  body: {
    name: text().optional(),
    path: text().optional(),
    namespace_id: id().optional(),
    initialize_with_readme: flag().optional(),
    repository_object_format: oneOf(['sha1', 'sha256']).optional(),
    ...projectBodyParams,
  },
  check: (sent) =>
    sent.has('name') || sent.has('path')
      ? []
      : ['name, path are missing, at least one parameter must be provided'],
  response: projectEntity,
  status: 201,
  async handler({ ctx, body, request }) {
    const row = await createProject(ctx, {
      name: body.name,
      path: body.path,
      namespace: body.namespace_id,
      visibility: body.visibility,
      description: body.description,
      defaultBranch: body.default_branch,
      objectFormat: body.repository_object_format,
      topics: sentTopics(body),
      settings: sentSettings(body, request.sent),
    })
    return await presentProject(ctx, row)
  },
})

export const getProject = endpoint({
  method: 'GET',
  path: '/projects/:id',
  summary: 'Get a project',
  tags,
  access: onProject('read_project'),
  jobToken: true,
  query: {
    statistics: flag().optional(),
    license: flag().optional(),
    with_custom_attributes: flag().optional(),
  },
  response: projectEntity.or(projectBasicEntity),
  handler: ({ ctx, project, query }) =>
    readProject(ctx, project.id, {
      statistics: query.statistics,
      license: query.license,
      customAttributes: query.with_custom_attributes,
    }),
})
