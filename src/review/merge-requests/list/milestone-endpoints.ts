import { z } from 'zod'
import { type SourceKind, sourceWord } from '../../../access/sources.ts'
import { type Endpoint, endpoint } from '../../../http/endpoint.ts'
import { id } from '../../../http/params.ts'
import { getMilestone } from '../../../planning/milestones/verbs.ts'
import { onSource } from '../../../planning/place.ts'
import { listedMergeRequestEntity } from '../entity.ts'
import { listVisibleMergeRequests } from './list-merge-requests.ts'

function listOf(kind: SourceKind): Endpoint {
  return endpoint({
    method: 'GET',
    path: `/${kind}/:id/milestones/:milestone_id/merge_requests` as const,
    summary: `List the merge requests of a milestone of a ${sourceWord[kind]}`,
    tags: ['milestones'],
    access: onSource(kind, 'read_merge_requests'),
    params: { milestone_id: id() },
    paginate: 'offset',
    response: z.array(listedMergeRequestEntity),
    async handler({ ctx, source, params, page }) {
      const milestone = await getMilestone(ctx, source.place, params.milestone_id)
      return listVisibleMergeRequests(ctx, { milestoneId: milestone.id }, {}, page)
    },
  })
}

export const listMergeRequestsOfMilestone = [listOf('projects'), listOf('groups')]
