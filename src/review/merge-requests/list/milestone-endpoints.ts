import { z } from 'zod'
import { endpoint } from '../../../http/endpoint.ts'
import { onMilestoneOfMergeRequests } from '../../../planning/milestones/access.ts'
import { listedMergeRequestEntity } from '../entity.ts'
import { listVisibleMergeRequests } from './list-merge-requests.ts'

export const listMergeRequestsOfMilestone = endpoint({
  method: 'GET',
  path: '/:source/:id/milestones/:milestone_id/merge_requests',
  summary: 'List the merge requests of a milestone of a project or group',
  access: onMilestoneOfMergeRequests(),
  paginate: 'offset',
  response: z.array(listedMergeRequestEntity),
  handler: ({ ctx, milestone, page }) =>
    listVisibleMergeRequests(ctx, { milestoneId: milestone.id }, {}, page),
})
