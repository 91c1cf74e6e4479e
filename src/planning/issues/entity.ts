import { z } from 'zod'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { labelDetailEntity } from '../labels/entity.ts'
import { milestoneEntity } from '../milestones/entity.ts'
import { timeStatsEntity } from '../time-tracking/entity.ts'

/** An issue (docs/contract/D §1.9 Fields). */
export const issueEntity = z.strictObject({
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  title: z.string(),
  description: z.string().nullable(),
  state: z.enum(['opened', 'closed']),
  created_at: z.string(),
  updated_at: z.string(),
  closed_at: z.string().nullable(),
  closed_by: userBasicEntity.nullable(),
  labels: z.union([z.array(z.string()), z.array(labelDetailEntity)]),
  milestone: milestoneEntity.nullable(),
  assignees: z.array(userBasicEntity),
  author: userBasicEntity.nullable(),
  type: z.enum(['ISSUE', 'INCIDENT', 'TEST_CASE', 'TASK']),
  assignee: userBasicEntity.nullable(),
  user_notes_count: z.int(),
  merge_requests_count: z.int(),
  upvotes: z.int(),
  downvotes: z.int(),
  start_date: z.string().nullable(),
  due_date: z.string().nullable(),
  confidential: z.boolean(),
  discussion_locked: z.boolean().nullable(),
  issue_type: z.enum(['issue', 'incident', 'test_case', 'task']),
  web_url: z.string(),
  time_stats: timeStatsEntity,
  task_completion_status: z.strictObject({ count: z.int(), completed_count: z.int() }),
  weight: z.int().nullable(),
  blocking_issues_count: z.int(),
  has_tasks: z.boolean(),
  task_status: z.string().optional(),
  _links: z.strictObject({
    self: z.string(),
    notes: z.string(),
    award_emoji: z.string(),
    project: z.string(),
    closed_as_duplicate_of: z.string().nullable(),
  }),
  references: z.strictObject({ short: z.string(), relative: z.string(), full: z.string() }),
  severity: z.string(),
  subscribed: z.boolean().optional(),
  moved_to_id: z.int().nullable(),
  imported: z.boolean(),
  imported_from: z.string(),
  service_desk_reply_to: z.null(),
  epic_iid: z.null(),
  epic: z.null(),
  iteration: z.null(),
  health_status: z.null(),
})

export type IssueBody = z.input<typeof issueEntity>

/** An issue in a list of links (docs/contract/D §1.9). */
export const linkedIssueEntity = issueEntity.extend({
  issue_link_id: z.int(),
  link_type: z.enum(['relates_to', 'blocks', 'is_blocked_by']),
  link_created_at: z.string(),
  link_updated_at: z.string(),
})
