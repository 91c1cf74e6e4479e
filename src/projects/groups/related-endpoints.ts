import { z } from 'zod'
import { adminsOnly } from '../../access/conditions.ts'
import { getVisibleProject, onGroup, onProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, flag, id, integer, oneOf, text } from '../../http/params.ts'
import { transferProject } from '../projects/transfer-project.ts'
import { groupDetailEntity, groupEntity, groupPlaceEntity } from './entity.ts'
import { listGroupPlaces, listGroups } from './list-groups.ts'
import { groupListParams, groupPages } from './params.ts'
import { readGroup } from './present.ts'

const relation = csv(oneOf(['direct', 'inherited'])).optional()

function withInherited(relations: readonly string[] | undefined): boolean {
  return relations === undefined || relations.length === 0 || relations.includes('inherited')
}

export const getInvitedGroups = endpoint({
  method: 'GET',
  path: '/groups/:id/invited_groups',
  summary: 'List the groups that were invited to a group',
  access: onGroup('read_group'),
  query: { ...groupListParams, relation },
  paginate: groupPages,
  response: z.array(groupEntity),
  handler: ({ ctx, group, query, page }) =>
    listGroups(
      ctx,
      { kind: 'invited', groupId: group.id, above: withInherited(query.relation) },
      query,
      page,
    ),
})

export const postGroupProject = endpoint({
  method: 'POST',
  path: '/groups/:id/projects/:project_id',
  summary: 'Move a project into a group',
  access: onGroup('admin_group'),
  params: { project_id: text() },
  conditions: [adminsOnly],
  response: groupDetailEntity,
  async handler({ ctx, group, params }) {
    const project = await getVisibleProject(ctx, params.project_id)
    await transferProject(ctx, project.id, group.id)
    return await readGroup(ctx, group.id, { projects: true })
  },
})

export const getGroupTransferLocations = endpoint({
  method: 'GET',
  path: '/groups/:id/transfer_locations',
  summary: 'List the groups below which a group can be moved',
  access: onGroup('transfer_group'),
  query: { search: text().optional() },
  paginate: 'offset',
  response: z.array(groupPlaceEntity),
  handler: ({ ctx, group, query, page }) =>
    listGroupPlaces(ctx, { kind: 'outside', groupId: group.id }, { ...query, owned: true }, page),
})

export const getProjectGroups = endpoint({
  method: 'GET',
  path: '/projects/:id/groups',
  summary: 'List the groups above a project',
  access: onProject('read_project'),
  query: {
    search: text().optional(),
    skip_groups: csv(id()).optional(),
    with_shared: flag().optional(),
    shared_min_access_level: integer({ min: 5, max: 50 }).optional(),
    shared_visible_only: flag().optional(),
  },
  paginate: 'offset',
  response: z.array(groupPlaceEntity),
  handler: ({ ctx, project, query, page }) =>
    listGroupPlaces(
      ctx,
      {
        kind: 'project_ancestors',
        projectId: project.id,
        shared: query.with_shared ?? false,
        sharedLeast: query.shared_min_access_level ?? 0,
      },
      { search: query.search, skip_groups: query.skip_groups },
      page,
    ),
})

export const getProjectInvitedGroups = endpoint({
  method: 'GET',
  path: '/projects/:id/invited_groups',
  summary: 'List the groups that were invited to a project',
  access: onProject('read_project'),
  query: {
    search: text().optional(),
    min_access_level: integer({ min: 5, max: 50 }).optional(),
    relation,
  },
  paginate: 'offset',
  response: z.array(groupPlaceEntity),
  handler: ({ ctx, project, query, page }) =>
    listGroupPlaces(
      ctx,
      {
        kind: 'invited_to_project',
        projectId: project.id,
        above: withInherited(query.relation),
      },
      { search: query.search, min_access_level: query.min_access_level },
      page,
    ),
})

export const getShareLocations = endpoint({
  method: 'GET',
  path: '/projects/:id/share_locations',
  summary: 'List the groups that a project can be shared with',
  access: onProject('share_project'),
  query: { search: text().optional() },
  paginate: 'offset',
  response: z.array(groupPlaceEntity),
  handler: ({ ctx, project, query, page }) =>
    listGroupPlaces(ctx, { kind: 'not_invited', projectId: project.id }, query, page),
})

export const getProjectTransferLocations = endpoint({
  method: 'GET',
  path: '/projects/:id/transfer_locations',
  summary: 'List the groups to which a project can be moved',
  access: onProject('transfer_project'),
  query: { search: text().optional() },
  paginate: 'offset',
  response: z.array(groupPlaceEntity),
  handler: ({ ctx, project, query, page }) =>
    listGroupPlaces(
      ctx,
      { kind: 'other', groupId: project.namespace_id },
      { search: query.search, min_access_level: 40 },
      page,
    ),
})
