import { z } from 'zod'
import { anyone, onGroup, signedIn } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { filledText, flag, id } from '../../http/params.ts'
import { sentAvatar } from '../../identity/users/avatar/sent-avatar.ts'
import { limitsArtifacts, limitsRepository } from '../namespaces/access.ts'
import { projectListEntity } from '../projects/entity.ts'
import { listProjects } from '../projects/list/list-projects.ts'
import { projectListParams, projectPages } from '../projects/list/params.ts'
import { createsGroup } from './access.ts'
import { createGroup } from './create-group.ts'
import { groupDetailEntity, groupEntity } from './entity.ts'
import { listGroups } from './list-groups.ts'
import { groupBodyParams, groupListParams, groupPages } from './params.ts'
import { readGroup } from './present.ts'
import { presetCreationLevel, sentGroupColumns, sentGroupSettings } from './settings.ts'

export const getGroups = endpoint({
  method: 'GET',
  path: '/groups',
  summary: 'List the groups that the caller sees',
  access: anyone(),
  query: groupListParams,
  paginate: groupPages,
  response: z.array(groupEntity),
  handler: ({ ctx, query, page }) => listGroups(ctx, { kind: 'all' }, query, page),
})

export const postGroup = endpoint({
  method: 'POST',
  path: '/groups',
  summary: 'Create a group',
  access: signedIn(),
  body: {
    name: filledText(),
    path: filledText(),
    parent_id: id().optional(),
    ...groupBodyParams,
  },
  conditions: [createsGroup, limitsArtifacts, limitsRepository],
  response: groupDetailEntity,
  async handler({ ctx, body, request }) {
    const avatar = await sentAvatar(ctx, body.avatar)
    const groupId = await createGroup(ctx, {
      avatar: avatar ?? undefined,
      name: body.name,
      path: body.path,
      parentId: body.parent_id,
      visibility: body.visibility,
      description: body.description,
      settings: sentGroupSettings(body, request.sent),
      columns: {
        project_creation_level: presetCreationLevel(ctx.settings.get('default_project_creation')),
        ...sentGroupColumns(body),
      },
    })
    return await readGroup(ctx, groupId)
  },
})

export const getGroup = endpoint({
  method: 'GET',
  path: '/groups/:id',
  summary: 'Get a group',
  access: onGroup('read_group'),
  query: {
    with_projects: flag().optional(),
    with_custom_attributes: flag().optional(),
    statistics: flag().optional(),
  },
  response: groupDetailEntity,
  handler: ({ ctx, group, query }) =>
    readGroup(ctx, group.id, {
      projects: query.with_projects ?? true,
      customAttributes: query.with_custom_attributes,
      statistics: query.statistics,
    }),
})

/** A list of the groups that stand to a group in one way. */
function groupsOf(kind: 'children' | 'descendants' | 'shared_with', path: string, summary: string) {
  return endpoint({
    method: 'GET',
    path: `/groups/:id/${path}`,
    summary,
    access: onGroup('read_group'),
    query: groupListParams,
    paginate: groupPages,
    response: z.array(groupEntity),
    handler: ({ ctx, group, query, page }) =>
      listGroups(ctx, { kind, groupId: group.id }, query, page),
  })
}

export const getSubgroups = groupsOf(
  'children',
  'subgroups',
  'List the groups directly below a group',
)

export const groupLists = [
  groupsOf('descendants', 'descendant_groups', 'List all groups below a group'),
  groupsOf('shared_with', 'groups/shared', 'List the groups that were shared with a group'),
]

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
