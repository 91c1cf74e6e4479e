import { viewerOf } from '../../access/visible-queries.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { presentUserBasic } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { renderField } from '../../markdown/render.ts'
import { assigneesBySubject } from '../../planning/assignees/verbs.ts'
import { countTasks } from '../../planning/issues/tasks-in-text.ts'
import { describeLabels } from '../../planning/labels/describe.ts'
import { presentLabelDetail } from '../../planning/labels/entity.ts'
import { labelsBySubject } from '../../planning/labels/set-labels.ts'
import { presentMilestonesById } from '../../planning/milestones/verbs.ts'
import { timeStats } from '../../planning/time-tracking/duration.ts'
import { type Counts, countsById } from './count-queries.ts'
import { detailedMergeStatus, publicMergeStatus } from './detailed-merge-status.ts'
import type { ListedMergeRequest, MergeRequestBrief } from './entity.ts'
import { mergeFactsById, targetSetting } from './facts.ts'
import { listReviewers } from './people/queries.ts'
import type { MergeRequestRow } from './row.ts'

/** How a list wants its merge requests. */
export interface Wanted {
  readonly labelDetails?: boolean | undefined
  /** Full path of the group whose list it is; `null` for lists of everything. */
  readonly group?: string | null | undefined
  readonly html?: boolean | undefined
}

export function mergeRequestUrl(
  ctx: Pick<Ctx, 'config'>,
  row: Pick<MergeRequestRow, 'target_path' | 'iid'>,
): string {
  return `${ctx.config.externalUrl}/${row.target_path}/-/merge_requests/${row.iid}`
}

/** `view=simple` */
export function presentBrief(ctx: Pick<Ctx, 'config'>, row: MergeRequestRow): MergeRequestBrief {
  return {
    id: row.id,
    iid: row.iid,
    project_id: row.target_project_id,
    title: row.title,
    description: row.description,
    state: row.state,
    created_at: row.created_at,
    updated_at: row.updated_at,
    web_url: mergeRequestUrl(ctx, row),
  }
}

/** Everything about the merge requests of a page, read in a few statements for all of them. */
async function extrasOf(ctx: Ctx, rows: readonly MergeRequestRow[]) {
  const ids = rows.map((row) => row.id)
  const userIds = rows.flatMap((row) => [row.author_id, row.merge_user_id, row.closed_by_id])
  const milestoneIds = rows.flatMap((row) => row.milestone_id ?? [])
  const [counts, users, reviewers, assignees, labels, milestones] = await Promise.all([
    countsById(ctx.db, viewerOf(ctx), ids),
    usersById(ctx, userIds),
    listReviewers(ctx.db, ids),
    assigneesBySubject(ctx, 'merge_request', ids),
    labelsBySubject(ctx, 'merge_request', ids),
    milestoneIds.length === 0 ? new Map() : presentMilestonesById(ctx, milestoneIds),
  ])
  const facts = await mergeFactsById(ctx, rows, counts)
  return { counts, users, reviewers, assignees, labels, milestones, facts }
}

type Extras = Awaited<ReturnType<typeof extrasOf>>

/** Merge requests as lists show them (docs/contract/D §1.10 Fields). */
export async function presentMergeRequests(
  ctx: Ctx,
  rows: readonly MergeRequestRow[],
  wanted: Wanted = {},
): Promise<ListedMergeRequest[]> {
  if (rows.length === 0) return []
  const extras = await extrasOf(ctx, rows)
  const texts = wanted.html ? await textsOf(ctx, rows) : undefined
  const labels = wanted.labelDetails
    ? await describeLabels(ctx, [...extras.labels.values()].flat())
    : new Map<number, string>()
  return rows.map((row) => ({
    ...presentBrief(ctx, row),
    ...peopleOf(ctx, row, extras),
    ...stateOf(row, extras),
    ...optionsOf(row),
    ...planOf(row, extras, wanted.labelDetails ? labels : undefined),
    ...texts?.get(row.id),
    ...countsOf(ctx, row, extras.counts.get(row.id)),
    ...referencesOf(row, wanted),
  }))
}

function peopleOf(ctx: Ctx, row: MergeRequestRow, extras: Extras) {
  const user = (id: number | null) => extras.users.get(id ?? 0) ?? null
  const assignees = (extras.assignees.get(row.id) ?? []).map((one) => presentUserBasic(ctx, one))
  return {
    author: user(row.author_id),
    assignees,
    assignee: assignees[0] ?? null,
    reviewers: extras.reviewers
      .filter((one) => one.merge_request_id === row.id)
      .map((one) => presentUserBasic(ctx, one)),
    merged_by: row.state === 'merged' ? user(row.merge_user_id) : null,
    merge_user: user(row.merge_user_id),
    closed_by: user(row.closed_by_id),
  }
}

function stateOf(row: MergeRequestRow, extras: Extras) {
  const facts = existing(extras.facts.get(row.id))
  return {
    merged_at: row.merged_at,
    merge_after: row.merge_after,
    closed_at: row.closed_at,
    prepared_at: row.prepared_at,
    draft: row.draft === 1,
    work_in_progress: row.draft === 1,
    merge_when_pipeline_succeeds: row.auto_merge_sha !== null,
    merge_status: publicMergeStatus(row.merge_status),
    detailed_merge_status: detailedMergeStatus(facts),
    has_conflicts: row.merge_status === 'cannot_be_merged',
    blocking_discussions_resolved:
      !facts.discussionsMustBeResolved || facts.unresolvedDiscussions === 0,
    sha: row.source_branch_exists === 1 ? row.head_sha : null,
    merge_commit_sha: row.merge_commit_sha,
    squash_commit_sha: row.squash_commit_sha,
  }
}

/** What its author and the project want to happen at the merge. */
function optionsOf(row: MergeRequestRow) {
  const squash = targetSetting(row, 'squash_option')
  const fromFork = row.source_project_id !== row.target_project_id
  const collaboration = row.allow_collaboration === 1
  return {
    target_branch: row.target_branch,
    source_branch: row.source_branch,
    source_project_id: row.source_project_id,
    target_project_id: row.target_project_id,
    discussion_locked: flagOf(row.discussion_locked),
    should_remove_source_branch: flagOf(row.should_remove_source_branch),
    force_remove_source_branch: flagOf(row.force_remove_source_branch),
    ...(fromFork
      ? { allow_collaboration: collaboration, allow_maintainer_to_push: collaboration }
      : {}),
    squash: row.squash === 1,
    squash_on_merge: squashOnMerge(squash, row.squash === 1),
    imported: false,
    imported_from: 'none',
  }
}

/** The project's `squash_option` overrules what was asked at its two ends (docs/contract/D §1.10). */
export function squashOnMerge(option: string, asked: boolean): boolean {
  if (option === 'always') return true
  return option !== 'never' && asked
}

/** Title and description as HTML. */
async function textsOf(ctx: Ctx, rows: readonly MergeRequestRow[]) {
  const texts = new Map<number, { title_html: string; description_html: string }>()
  for (const row of rows) {
    texts.set(row.id, {
      title_html: await renderField(ctx, row.title, row.target_path, { inline: true }),
      description_html: await renderField(ctx, row.description, row.target_path),
    })
  }
  return texts
}

function planOf(
  row: MergeRequestRow,
  extras: Extras,
  descriptions: ReadonlyMap<number, string> | undefined,
) {
  const labels = extras.labels.get(row.id) ?? []
  return {
    labels: descriptions
      ? labels.map((label) => presentLabelDetail(label, descriptions))
      : labels.map((label) => label.title),
    milestone: row.milestone_id === null ? null : (extras.milestones.get(row.milestone_id) ?? null),
    task_completion_status: countTasks(row.description),
    approvals_before_merge: row.approvals_before_merge,
  }
}

function countsOf(ctx: Ctx, row: MergeRequestRow, counts: Counts | undefined) {
  const spent = counts?.seconds_spent ?? 0
  return {
    user_notes_count: counts?.notes ?? 0,
    upvotes: counts?.upvotes ?? 0,
    downvotes: counts?.downvotes ?? 0,
    time_stats: timeStats(ctx, row.time_estimate, spent),
  }
}

function referencesOf(row: MergeRequestRow, wanted: Wanted) {
  const short = `!${row.iid}`
  const full = `${row.target_path}${short}`
  const inside = wanted.group && full.startsWith(`${wanted.group}/`)
  const outside = wanted.group === undefined ? short : full
  const relative = inside ? full.slice(wanted.group.length + 1) : outside
  return { reference: relative, references: { short, relative, full } }
}

function flagOf(value: 0 | 1 | null): boolean | null {
  return value === null ? null : value === 1
}
