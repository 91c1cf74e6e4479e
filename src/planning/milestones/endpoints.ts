import { z } from 'zod'
import { onEither } from '../../access/sources.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import { dayOf } from '../../base/clock.ts'
import type { OffsetPage } from '../../base/page.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { endpoint } from '../../http/endpoint.ts'
import { csv, day, flag, instant, integer, oneOf, text } from '../../http/params.ts'
import { type Place, placeOf } from '../place.ts'
import { onMilestone, onPromotedMilestone } from './access.ts'
import { type MilestoneRow, milestoneEntity, presentMilestone } from './entity.ts'
import { listMilestoneRows } from './queries.ts'
import { changeMilestone, createMilestone, promoteMilestone, removeMilestone } from './verbs.ts'

const path = '/:source/:id/milestones'
const one = '/:source/:id/milestones/:milestone_id'
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
      below: query.include_descendants ? viewerOf(ctx) : undefined,
      updatedBefore: query.updated_before,
      updatedAfter: query.updated_after,
      containing: query.containing_date,
    },
    page,
  )
  return { ...rows, items: rows.items.map((row) => present(ctx, row)) }
}

export const listMilestones = endpoint({
  method: 'GET',
  path,
  summary: 'List the milestones of a project or group',
  access: onEither('read_labels'),
  query: listQuery,
  paginate: 'offset',
  response: z.array(milestoneEntity),
  handler: ({ ctx, source, query, page }) => list(ctx, placeOf(source), query, page),
})

export const getOneMilestone = endpoint({
  method: 'GET',
  path: one,
  summary: 'Get a milestone of a project or group',
  access: onMilestone(),
  response: milestoneEntity,
  handler: ({ ctx, milestone }) => present(ctx, milestone),
})

export const addMilestone = endpoint({
  method: 'POST',
  path,
  summary: 'Create a milestone in a project or group',
  access: onEither('admin_milestone'),
  body: createBody,
  response: milestoneEntity,
  handler: async ({ ctx, source, body }) =>
    present(ctx, await createMilestone(ctx, placeOf(source), body)),
})

export const updateMilestone = endpoint({
  method: 'PUT',
  path: one,
  summary: 'Change, close or reopen a milestone of a project or group',
  access: onMilestone('admin_milestone'),
  body: changeBody,
  response: milestoneEntity,
  handler: async ({ ctx, source, milestone, body }) =>
    present(ctx, await changeMilestone(ctx, placeOf(source), milestone, body)),
})

export const deleteMilestone = endpoint({
  method: 'DELETE',
  path: one,
  summary: 'Delete a milestone of a project or group',
  access: onMilestone('admin_milestone'),
  handler({ ctx, source, milestone, request }) {
    assertUnmodifiedSince(request, milestone.updated_at)
    return removeMilestone(ctx, placeOf(source), milestone)
  },
})

export const promoteProjectMilestone = endpoint({
  method: 'POST',
  path: '/projects/:id/milestones/:milestone_id/promote',
  summary: 'Promote a project milestone to a group milestone',
  access: onPromotedMilestone(),
  response: milestoneEntity,
  status: 200,
  handler: async ({ ctx, group, milestone }) =>
    present(ctx, await promoteMilestone(ctx, group.id, milestone)),
})
