import { onProject } from '../../access/subjects.ts'
import { conflict, notModified } from '../../base/problem.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, id, oneOf, text } from '../../http/params.ts'
import {
  projectBasicEntity,
  projectEntity,
  projectListEntity,
} from '../../projects/projects/entity.ts'
import { listProjects } from '../../projects/projects/list/list-projects.ts'
import { projectListParams, projectPages } from '../../projects/projects/list/params.ts'
import { presentProject, readProject } from '../../projects/projects/present.ts'
import { relateFork } from '../../projects/projects/relate-fork.ts'
import { findForkRoot } from '../repository/fork-network-queries.ts'
import { onForkParent } from './access.ts'
import { forkProject } from './fork-project.ts'

export const postFork = endpoint({
  method: 'POST',
  path: '/projects/:id/fork',
  summary: 'Fork a project',
  access: onProject('fork_project'),
  body: {
    namespace: id().or(text()).optional(),
    namespace_id: id().optional(),
    namespace_path: text().optional(),
    path: text().optional(),
    name: text().optional(),
    description: text().optional(),
    visibility: oneOf(['private', 'internal', 'public']).optional(),
    branches: text().optional(),
    mr_default_target_self: flag().optional(),
  },
  response: projectEntity,
  async handler({ ctx, project, body }) {
    const row = await forkProject(ctx, project, {
      namespace: body.namespace_id ?? body.namespace_path ?? body.namespace,
      name: body.name,
      path: body.path,
      description: body.description,
      visibility: body.visibility,
      branch: body.branches,
      targetSelf: body.mr_default_target_self,
    })
    return await presentProject(ctx, row)
  },
})

export const getForks = endpoint({
  method: 'GET',
  path: '/projects/:id/forks',
  summary: 'List the forks of a project',
  access: onProject('read_project'),
  query: projectListParams,
  paginate: projectPages,
  response: projectListEntity,
  handler: ({ ctx, project, query, page }) =>
    listProjects(ctx, { kind: 'forks', projectId: project.id }, query, page),
})

export const postForkRelation = endpoint({
  method: 'POST',
  path: '/projects/:id/fork/:forked_from_id',
  summary: 'Record that a project is a fork of another',
  access: onForkParent(),
  response: projectEntity.or(projectBasicEntity),
  async handler({ ctx, project, parent }) {
    // One that comes from the project itself is no parent of it: the line would have no end.
    if (project.forked_from_id !== null || (await findForkRoot(ctx.db, parent.id)) === project.id) {
      throw conflict('Project already forked')
    }
    await relateFork(ctx, project.id, parent.id)
    return await readProject(ctx, project.id)
  },
})

export const deleteForkRelation = endpoint({
  method: 'DELETE',
  path: '/projects/:id/fork',
  summary: 'Forget that a project is a fork',
  access: onProject('remove_fork'),
  async handler({ ctx, project }) {
    if (project.forked_from_id === null) throw notModified()
    await relateFork(ctx, project.id, null)
  },
})
