import { z } from 'zod'
import { type SourceKind, sourceWord } from '../../../access/sources.ts'
import { viewerOf } from '../../../access/visible-queries.ts'
import { dayOf } from '../../../base/clock.ts'
import { type Endpoint, endpoint } from '../../../http/endpoint.ts'
import { id } from '../../../http/params.ts'
import { getMilestone } from '../../milestones/verbs.ts'
import { onSource } from '../../place.ts'
import { issueEntity } from '../entity.ts'
import { presentIssues } from '../present.ts'
import { listBurndownEvents } from './burndown-queries.ts'
import { listIssueRows } from './queries.ts'

const params = { milestone_id: id() }

const burndownEntity = z.strictObject({
  created_at: z.string(),
  weight: z.int().nullable(),
  action: z.string(),
})

function endpointsOf(kind: SourceKind): Endpoint[] {
  const path = `/${kind}/:id/milestones/:milestone_id` as const
  const common = { tags: ['milestones'], access: onSource(kind, 'read_issues'), params }
  return [
    endpoint({
      ...common,
      method: 'GET',
      path: `${path}/issues`,
      summary: `List the issues of a milestone of a ${sourceWord[kind]}`,
      paginate: 'offset',
      response: z.array(issueEntity),
      async handler({ ctx, source, params, page }) {
        const { id } = await getMilestone(ctx, source.place, params.milestone_id)
        const viewer = viewerOf(ctx.actor, dayOf(ctx.now()))
        const scope = { kind: 'milestone', milestoneId: id } as const
        const rows = await listIssueRows(ctx.db, viewer, scope, {}, page)
        return { ...rows, items: await presentIssues(ctx, rows.items) }
      },
    }),
    endpoint({
      ...common,
      method: 'GET',
      path: `${path}/burndown_events`,
      summary: `Tell when issues of a milestone of a ${sourceWord[kind]} came and were closed`,
      paginate: 'offset',
      response: z.array(burndownEntity),
      async handler({ ctx, source, params, page }) {
        const { id } = await getMilestone(ctx, source.place, params.milestone_id)
        const viewer = viewerOf(ctx.actor, dayOf(ctx.now()))
        return listBurndownEvents(ctx.db, viewer, id, page)
      },
    }),
  ]
}

export const projectMilestoneIssues = endpointsOf('projects')
export const groupMilestoneIssues = endpointsOf('groups')
