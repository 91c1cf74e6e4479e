import { z } from 'zod'
import { type SourceKind, sourceWord } from '../../access/sources.ts'
import { assertMayInGroup, getVisibleGroup, onProject } from '../../access/subjects.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { csv, day, flag, id, instant, integer, oneOf, text } from '../../http/params.ts'
import { onSource, type Place, sourceOf } from '../place.ts'
import { type MilestoneRow, milestoneEntity, presentMilestone } from './entity.ts'
import { listMilestoneRows } from './queries.ts'
import {
  changeMilestone,
  createMilestone,
  getMilestone,
  promoteMilestone,
  removeMilestone,
} from './verbs.ts'

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

function present(ctx: Ctx, row: MilestoneRow) {
  return presentMilestone(row, ctx.config.externalUrl, dayOf(ctx.now()))
}

async function list(ctx: Ctx, place: Place, query: ListQuery, page: OffsetPage) {
  const rows = await listMilestoneRows(
    ctx.db,
    place,
    {
      iids: query.iids,
      state: query.state === 'all' ? undefined : query.state,
      title: query.title,
      search: query.search,
      ancestors: query.include_ancestors ?? query.include_parent_milestones ?? false,
      below: query.include_descendants ? viewerOf(ctx.actor, dayOf(ctx.now())) : undefined,
      updatedBefore: query.updated_before,
      updatedAfter: query.updated_after,
      containing: query.containing_date,
    },
    page,
  )
  return { ...rows, items: rows.items.map((row) => present(ctx, row)) }
}

function milestonesOf(kind: SourceKind): Endpoint[] {
  const path = `/${kind}/:id/milestones` as const
  const one = `${path}/:milestone_id` as const
  const word = sourceWord[kind]
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the milestones of a ${word}`,
      tags,
      access: onSource(kind, 'read_labels'),
      query: listQuery,
      paginate: 'offset',
      response: z.array(milestoneEntity),
      handler: ({ ctx, source, query, page }) => list(ctx, source.place, query, page),
    }),
    endpoint({
      method: 'GET',
      path: one,
      summary: `Get a milestone of a ${word}`,
      tags,
      access: onSource(kind, 'read_labels'),
      params,
      response: milestoneEntity,
      handler: async ({ ctx, source, params: { milestone_id } }) =>
        present(ctx, await getMilestone(ctx, source.place, milestone_id)),
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Create a milestone in a ${word}`,
      tags,
      access: onSource(kind, 'admin_milestone'),
      body: createBody,
      response: milestoneEntity,
      status: 201,
      handler: async ({ ctx, source, body }) =>
        present(ctx, await createMilestone(ctx, source.place, body)),
    }),
    endpoint({
      method: 'PUT',
      path: one,
      summary: `Change, close or reopen a milestone of a ${word}`,
      tags,
      access: onSource(kind, 'admin_milestone'),
      params,
      body: changeBody,
      response: milestoneEntity,
      async handler({ ctx, source: { place }, params: { milestone_id }, body }) {
        const row = await getMilestone(ctx, place, milestone_id)
        return present(ctx, await changeMilestone(ctx, place, row, body))
      },
    }),
    endpoint({
      method: 'DELETE',
      path: one,
      summary: `Delete a milestone of a ${word}`,
      tags,
      access: onSource(kind, 'admin_milestone'),
      params,
      async handler({ ctx, source: { place }, params: { milestone_id } }) {
        await removeMilestone(ctx, place, await getMilestone(ctx, place, milestone_id))
      },
    }),
  ]
}

export const projectMilestones = milestonesOf('projects')
export const groupMilestones = milestonesOf('groups')

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
    const row = await getMilestone(ctx, sourceOf(project).place, milestone_id)
    if (project.namespace_kind !== 'group') throw badRequest('Project does not belong to a group.')
    const group = await getVisibleGroup(ctx, String(project.namespace_id))
    assertMayInGroup(ctx, group, 'admin_milestone')
    return present(ctx, await promoteMilestone(ctx, group.id, row))
  },
})
