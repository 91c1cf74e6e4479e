import { z } from 'zod'
import {
  assertMayInGroup,
  type Group,
  getVisibleGroup,
  onGroup,
  onProject,
  type Project,
} from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { badRequest, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, day, flag, id, instant, integer, oneOf, text } from '../../http/params.ts'
import { type MilestoneRow, milestoneEntity, presentMilestone } from './entity.ts'
import { findMilestone, listMilestoneRows, type MilestonePlace } from './queries.ts'
import { changeMilestone, createMilestone, promoteMilestone, removeMilestone } from './verbs.ts'

const tags = ['milestones']
const params = { milestone_id: id() }
const fields = {
  description: text().nullish(),
  due_date: day().nullish(),
  start_date: day().nullish(),
}
const createBody = { ...fields, title: text({ max: 255 }) }
const changeBody = {
  ...fields,
  title: text({ max: 255 }).optional(),
  state_event: oneOf(['close', 'activate']).optional(),
}
const listQuery = {
  iids: csv(integer()).optional(),
  state: oneOf(['active', 'closed', 'all']).optional(),
  title: text().optional(),
  search: text().optional(),
  include_ancestors: flag().optional(),
  include_parent_milestones: flag().optional(),
  include_descendants: flag().optional(),
  updated_before: instant().optional(),
  updated_after: instant().optional(),
  containing_date: day().optional(),
}
type ListQuery = z.infer<z.ZodObject<typeof listQuery>>

function placeOf(subject: { project: Project } | { group: Group }): MilestonePlace {
  return 'project' in subject
    ? { projectId: subject.project.id, namespaceId: subject.project.namespace_id }
    : { namespaceId: subject.group.id }
}

function present(ctx: Ctx, row: MilestoneRow) {
  return presentMilestone(row, ctx.config.externalUrl, dayOf(ctx.now()))
}

async function getMilestone(
  ctx: Ctx,
  place: MilestonePlace,
  milestoneId: number,
): Promise<MilestoneRow> {
  const row = await findMilestone(ctx.db, place, milestoneId)
  if (!row) throw notFound('Milestone')
  return row
}

async function list(ctx: Ctx, place: MilestonePlace, query: ListQuery, page: OffsetPage) {
  const rows = await listMilestoneRows(
    ctx.db,
    place,
    {
      iids: query.iids,
      state: query.state === 'all' ? undefined : query.state,
      title: query.title,
      search: query.search,
      ancestors: query.include_ancestors ?? query.include_parent_milestones ?? false,
      descendants: query.include_descendants ?? false,
      updatedBefore: query.updated_before,
      updatedAfter: query.updated_after,
      containing: query.containing_date,
    },
    page,
  )
  return { ...rows, items: rows.items.map((row) => present(ctx, row)) }
}

export const listProjectMilestones = endpoint({
  method: 'GET',
  path: '/projects/:id/milestones',
  summary: 'List the milestones of a project',
  tags,
  access: onProject('read_labels'),
  query: listQuery,
  paginate: 'offset',
  response: z.array(milestoneEntity),
  handler: ({ ctx, project, query, page }) => list(ctx, placeOf({ project }), query, page),
})

export const getProjectMilestone = endpoint({
  method: 'GET',
  path: '/projects/:id/milestones/:milestone_id',
  summary: 'Get a milestone of a project',
  tags,
  access: onProject('read_labels'),
  params,
  response: milestoneEntity,
  handler: async ({ ctx, project, params: { milestone_id } }) =>
    present(ctx, await getMilestone(ctx, placeOf({ project }), milestone_id)),
})

export const createProjectMilestone = endpoint({
  method: 'POST',
  path: '/projects/:id/milestones',
  summary: 'Create a milestone in a project',
  tags,
  access: onProject('admin_milestone'),
  body: createBody,
  response: milestoneEntity,
  status: 201,
  handler: async ({ ctx, project, body }) =>
    present(ctx, await createMilestone(ctx, placeOf({ project }), body)),
})

export const updateProjectMilestone = endpoint({
  method: 'PUT',
  path: '/projects/:id/milestones/:milestone_id',
  summary: 'Change, close or reopen a milestone of a project',
  tags,
  access: onProject('admin_milestone'),
  params,
  body: changeBody,
  response: milestoneEntity,
  async handler({ ctx, project, params: { milestone_id }, body }) {
    const place = placeOf({ project })
    const row = await getMilestone(ctx, place, milestone_id)
    return present(ctx, await changeMilestone(ctx, place, row, body))
  },
})

export const deleteProjectMilestone = endpoint({
  method: 'DELETE',
  path: '/projects/:id/milestones/:milestone_id',
  summary: 'Delete a milestone of a project',
  tags,
  access: onProject('admin_milestone'),
  params,
  async handler({ ctx, project, params: { milestone_id } }) {
    const place = placeOf({ project })
    await removeMilestone(ctx, place, await getMilestone(ctx, place, milestone_id))
  },
})

export const promoteProjectMilestone = endpoint({
  method: 'POST',
  path: '/projects/:id/milestones/:milestone_id/promote',
  summary: 'Make a project milestone one of its group',
  tags,
  access: onProject('admin_milestone'),
  params,
  response: milestoneEntity,
  status: 200,
  async handler({ ctx, project, params: { milestone_id } }) {
    const row = await getMilestone(ctx, placeOf({ project }), milestone_id)
    if (project.namespace_kind !== 'group') throw badRequest('Project does not belong to a group.')
    const group = await getVisibleGroup(ctx, String(project.namespace_id))
    assertMayInGroup(ctx, group, 'admin_milestone')
    return present(ctx, await promoteMilestone(ctx, group.id, row))
  },
})

export const listGroupMilestones = endpoint({
  method: 'GET',
  path: '/groups/:id/milestones',
  summary: 'List the milestones of a group',
  tags,
  access: onGroup('read_labels'),
  query: listQuery,
  paginate: 'offset',
  response: z.array(milestoneEntity),
  handler: ({ ctx, group, query, page }) => list(ctx, placeOf({ group }), query, page),
})

export const getGroupMilestone = endpoint({
  method: 'GET',
  path: '/groups/:id/milestones/:milestone_id',
  summary: 'Get a milestone of a group',
  tags,
  access: onGroup('read_labels'),
  params,
  response: milestoneEntity,
  handler: async ({ ctx, group, params: { milestone_id } }) =>
    present(ctx, await getMilestone(ctx, placeOf({ group }), milestone_id)),
})

export const createGroupMilestone = endpoint({
  method: 'POST',
  path: '/groups/:id/milestones',
  summary: 'Create a milestone in a group',
  tags,
  access: onGroup('admin_milestone'),
  body: createBody,
  response: milestoneEntity,
  status: 201,
  handler: async ({ ctx, group, body }) =>
    present(ctx, await createMilestone(ctx, placeOf({ group }), body)),
})

export const updateGroupMilestone = endpoint({
  method: 'PUT',
  path: '/groups/:id/milestones/:milestone_id',
  summary: 'Change, close or reopen a milestone of a group',
  tags,
  access: onGroup('admin_milestone'),
  params,
  body: changeBody,
  response: milestoneEntity,
  async handler({ ctx, group, params: { milestone_id }, body }) {
    const place = placeOf({ group })
    const row = await getMilestone(ctx, place, milestone_id)
    return present(ctx, await changeMilestone(ctx, place, row, body))
  },
})

export const deleteGroupMilestone = endpoint({
  method: 'DELETE',
  path: '/groups/:id/milestones/:milestone_id',
  summary: 'Delete a milestone of a group',
  tags,
  access: onGroup('admin_milestone'),
  params,
  async handler({ ctx, group, params: { milestone_id } }) {
    const place = placeOf({ group })
    await removeMilestone(ctx, place, await getMilestone(ctx, place, milestone_id))
  },
})
