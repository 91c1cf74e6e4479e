import { z } from 'zod'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { labelDetailEntity } from '../../planning/labels/entity.ts'
import { milestoneEntity } from '../../planning/milestones/entity.ts'
import { timeStatsEntity } from '../../planning/time-tracking/entity.ts'
import { diffEntity } from '../../repositories/repository/diff-entity.ts'

const user = userBasicEntity.nullable()
const text = z.string().nullable()
const flag = z.boolean().nullable()

const brief = {
  id: z.int(),
  iid: z.int(),
  project_id: z.int(),
  title: z.string(),
  description: text,
  state: z.enum(['opened', 'closed', 'merged', 'locked']),
  created_at: z.string(),
  updated_at: z.string(),
  web_url: z.string(),
}

const fields = {
  ...brief,
  title_html: z.string().optional(),
  description_html: z.string().optional(),
  merged_by: user,
  merge_user: user,
  merged_at: text,
  merge_after: text,
  closed_by: user,
  closed_at: text,
  prepared_at: text,
  target_branch: z.string(),
  source_branch: z.string(),
  user_notes_count: z.int(),
  upvotes: z.int(),
  downvotes: z.int(),
  author: user,
  assignees: z.array(userBasicEntity),
  assignee: user,
  reviewers: z.array(userBasicEntity),
  source_project_id: z.int().nullable(),
  target_project_id: z.int(),
  labels: z.array(z.union([z.string(), labelDetailEntity])),
  draft: z.boolean(),
  work_in_progress: z.boolean(),
  imported: z.boolean(),
  imported_from: z.string(),
  milestone: milestoneEntity.nullable(),
  merge_when_pipeline_succeeds: z.boolean(),
  merge_status: z.string(),
  detailed_merge_status: z.string(),
  sha: text,
  merge_commit_sha: text,
  squash_commit_sha: text,
  discussion_locked: flag,
  should_remove_source_branch: flag,
  force_remove_source_branch: flag,
  allow_collaboration: z.boolean().optional(),
  allow_maintainer_to_push: z.boolean().optional(),
  reference: z.string(),
  references: z.strictObject({ short: z.string(), relative: z.string(), full: z.string() }),
  time_stats: timeStatsEntity,
  squash: z.boolean(),
  squash_on_merge: z.boolean(),
  task_completion_status: z.strictObject({ count: z.int(), completed_count: z.int() }),
  has_conflicts: z.boolean(),
  blocking_discussions_resolved: z.boolean(),
  approvals_before_merge: z.int().nullable(),
}

/** A merge request in lists; with `view=simple` only the first few fields. */
export const listedMergeRequestEntity = z.union([z.strictObject(fields), z.strictObject(brief)])
export type ListedMergeRequest = z.input<z.ZodObject<typeof fields>>
export type MergeRequestBrief = z.input<z.ZodObject<typeof brief>>

/** What a merge request carries of its pipelines; pipelines are another resource's. */
const pipeline = z.looseObject({ id: z.int(), status: z.string() }).nullable()

const singleFields = {
  ...fields,
  subscribed: z.boolean(),
  changes_count: text,
  latest_build_started_at: text,
  latest_build_finished_at: text,
  first_deployed_to_production_at: text,
  pipeline,
  head_pipeline: pipeline,
  diff_refs: z
    .strictObject({ base_sha: z.string(), head_sha: z.string(), start_sha: z.string() })
    .nullable(),
  merge_error: text,
  rebase_in_progress: z.boolean().optional(),
  diverged_commits_count: z.int().optional(),
  first_contribution: z.boolean(),
  user: z.strictObject({ can_merge: z.boolean() }),
}

/** A single merge request (docs/contract/D §1.10 Fields). */
export const mergeRequestEntity = z.strictObject(singleFields)
export type MergeRequestDetail = z.input<typeof mergeRequestEntity>

export const changesEntity = z.strictObject({
  ...singleFields,
  changes: z.array(diffEntity),
  overflow: z.boolean(),
})

export const versionFields = {
  id: z.int(),
  head_commit_sha: z.string(),
  base_commit_sha: z.string(),
  start_commit_sha: z.string(),
  created_at: z.string(),
  merge_request_id: z.int(),
  state: z.literal('collected'),
  real_size: z.string(),
  patch_id_sha: text,
}

export const versionEntity = z.strictObject(versionFields)
