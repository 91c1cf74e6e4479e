import { onGroup } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag } from '../../http/params.ts'
import { projectListEntity } from '../projects/entity.ts'
import { listProjects } from '../projects/list/list-projects.ts'
import { projectListParams, projectPages } from '../projects/list/params.ts'

export const getGroupProjects = endpoint({
  method: 'GET',
  path: '/groups/:id/projects',
  summary: 'List the projects of a group',
  access: onGroup('read_group'),
  query: {
    include_subgroups: flag().optional(),
    include_ancestor_groups: flag().optional(),
    with_shared: flag().optional(),
    with_security_reports: flag().optional(),
    ...projectListParams,
  },
  paginate: projectPages,
  cached: true,
  response: projectListEntity,
  handler: ({ ctx, group, query, page }) =>
    listProjects(
      ctx,
      {
        kind: 'group',
        groupId: group.id,
        subgroups: query.include_subgroups ?? false,
        ancestors: query.include_ancestor_groups ?? false,
        shared: query.with_shared ?? true,
      },
      query,
      page,
    ),
})

export const getProjectsSharedWithGroup = endpoint({
  method: 'GET',
  path: '/groups/:id/projects/shared',
  summary: 'List the projects that were shared with a group',
  access: onGroup('read_group'),
  query: projectListParams,
  paginate: projectPages,
  response: projectListEntity,
  handler: ({ ctx, group, query, page }) =>
    listProjects(ctx, { kind: 'shared_with', groupId: group.id }, query, page),
})
