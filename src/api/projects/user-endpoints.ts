import { anyone } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { getUserWithProfile } from '../users/find-user.ts'
import { projectListEntity } from './entity.ts'
import { projectListParams, projectPages } from './list-params.ts'
import { listProjects } from './list-projects.ts'

const tags = ['projects']

export const getUserProjects = endpoint({
  method: 'GET',
  path: '/users/:user_id/projects',
  summary: 'List the projects in the namespace of a user',
  tags,
  access: anyone(),
  params: { user_id: text() },
  query: projectListParams,
  paginate: projectPages,
  kept: true,
  response: projectListEntity,
  async handler({ ctx, params, query, page }) {
    const user = await getUserWithProfile(ctx, params.user_id)
    return await listProjects(ctx, { kind: 'user', userId: user.id }, query, page)
  },
})

export const getStarredProjects = endpoint({
  method: 'GET',
  path: '/users/:user_id/starred_projects',
  summary: 'List the projects that a user starred',
  tags,
  access: anyone(),
  params: { user_id: text() },
  query: projectListParams,
  paginate: projectPages,
  kept: true,
  response: projectListEntity,
  async handler({ ctx, params, query, page }) {
    const user = await getUserWithProfile(ctx, params.user_id)
    return await listProjects(ctx, { kind: 'starred', userId: user.id }, query, page)
  },
})

export const getContributedProjects = endpoint({
  method: 'GET',
  path: '/users/:user_id/contributed_projects',
  summary: 'List the projects that a user contributed to',
  tags,
  access: anyone(),
  params: { user_id: text() },
  query: projectListParams,
  paginate: projectPages,
  kept: true,
  response: projectListEntity,
  async handler({ ctx, params, query, page }) {
    const user = await getUserWithProfile(ctx, params.user_id)
    return await listProjects(ctx, { kind: 'contributed', userId: user.id }, query, page)
  },
})
