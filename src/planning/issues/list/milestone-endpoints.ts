import { z } from 'zod'
import { viewerOf } from '../../../access/visible-queries.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { onMilestoneOfIssues } from '../../milestones/access.ts'
import { issueEntity } from '../entity.ts'
import { listBurndownEvents } from './burndown-queries.ts'
import { listVisibleIssues } from './list-issues.ts'

const path = '/:source/:id/milestones/:milestone_id'
const common = { access: onMilestoneOfIssues() }

const burndownEntity = z.strictObject({
  created_at: z.string(),
  weight: z.int().nullable(),
  action: z.string(),
})

export const listMilestoneIssues = endpoint({
  ...common,
  method: 'GET',
  path: `${path}/issues`,
  summary: 'List the issues of a milestone of a project or group',
  paginate: 'offset',
  response: z.array(issueEntity),
  handler: ({ ctx, milestone, page }) =>
    listVisibleIssues(ctx, { kind: 'milestone', milestoneId: milestone.id }, {}, page),
})

export const listMilestoneBurndown = endpoint({
  ...common,
  method: 'GET',
  path: `${path}/burndown_events`,
  summary: 'List the burndown events of a milestone of a project or group',
  paginate: 'offset',
  response: z.array(burndownEntity),
  handler: ({ ctx, milestone, page }) =>
    listBurndownEvents(ctx.db, viewerOf(ctx), milestone.id, page),
})
