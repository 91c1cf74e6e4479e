import { eitherRecord, projectRecord } from '../../access/records.ts'
import type { Source } from '../../access/sources.ts'
import type { Ctx } from '../../ctx.ts'
import { id } from '../../http/params.ts'
import { getGroupAbove } from '../access.ts'
import { placeOf, placeOfProject } from '../place.ts'
import { getMilestone } from './verbs.ts'

const params = { milestone_id: id() }

interface Asked {
  readonly ctx: Ctx
  readonly source: Source
  readonly params: { readonly milestone_id: number }
}

async function find({ ctx, source, params: { milestone_id } }: Asked) {
  return { milestone: await getMilestone(ctx, placeOf(source), milestone_id) }
}

/** The milestone of `:milestone_id` that belongs to this very project or group. */
export const onMilestone = eitherRecord('read_labels', { params, find })

/** The same, for lists of the issues that are planned for it. */
export const onMilestoneOfIssues = eitherRecord('read_issues', { params, find })

/** The same, for lists of the merge requests that are planned for it. */
export const onMilestoneOfMergeRequests = eitherRecord('read_merge_requests', { params, find })

/** A milestone of a project and the group that it goes to, for those who may change the milestones of both. */
export const onPromotedMilestone = projectRecord('admin_milestone', {
  params,
  async find({ ctx, project, params: { milestone_id } }) {
    const milestone = await getMilestone(ctx, placeOfProject(project), milestone_id)
    const refusal = 'Project does not belong to a group.'
    return { milestone, group: await getGroupAbove(ctx, project, 'admin_milestone', refusal) }
  },
})
