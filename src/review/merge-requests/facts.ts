import { viewerOf } from '../../access/visible-queries.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import {
  type ProjectSettingName,
  type ProjectSettingValue,
  projectSetting,
} from '../../projects/projects/settings.ts'
import { approvedById } from '../approval-rules/approved.ts'
import { type Counts, countsById } from './count-queries.ts'
import {
  type DetailedMergeStatus,
  detailedMergeStatus,
  type MergeFacts,
} from './detailed-merge-status.ts'
import { changingLockedFiles } from './locked-files.ts'
import { headPipelineStatuses, listPipelinesDue } from './pipeline-queries.ts'
import type { MergeRequestRow } from './row.ts'
import { titlesThatFit } from './title-fits.ts'

/** A setting of the project that a merge request wants to be merged into. */
export function targetSetting<K extends ProjectSettingName>(
  row: Pick<MergeRequestRow, 'target_settings'>,
  name: K,
): ProjectSettingValue<K> {
  const settings = JSON.parse(row.target_settings) as Record<string, unknown> // written by us as an object
  return projectSetting({ settings }, name)
}

/**
 * What decides whether each merge request can be merged now, by id. Asks the database only, but for those into projects
 * with locked files.
 */
export async function mergeFactsById(
  ctx: Ctx,
  rows: readonly MergeRequestRow[],
  counts: ReadonlyMap<number, Counts>,
  isWaiting: (row: MergeRequestRow) => boolean = (row) => row.auto_merge_sha !== null,
): Promise<ReadonlyMap<number, MergeFacts>> {
  const waiting = rows.filter(isWaiting).map((row) => row.id)
  const mayBeLocked = rows.filter(
    (row) => row.state === 'opened' && targetSetting(row, 'lfs_enabled'),
  )
  const [approved, pipelines, due, locked, fitting] = await Promise.all([
    approvedById(ctx, rows),
    headPipelineStatuses(
      ctx.db,
      rows.map((row) => row.id),
    ),
    listPipelinesDue(ctx.db, waiting),
    changingLockedFiles(
      ctx,
      mayBeLocked.map((row) => row.id),
    ),
    titlesThatFit(
      ctx,
      rows.map((row) => ({
        id: row.id,
        title: row.title,
        pattern: targetSetting(row, 'merge_request_title_regex'),
      })),
    ),
  ])
  const statusOf = (id: number) => pipelines.get(id) ?? (due.has(id) ? 'created' : null)
  return new Map(
    rows.map((row) => [
      row.id,
      {
        ...ownFacts(row),
        titleMatches: fitting.has(row.id),
        now: ctx.now(),
        unresolvedDiscussions: counts.get(row.id)?.unresolved ?? 0,
        filesLocked: locked.has(row.id),
        changesRequested: (counts.get(row.id)?.changes_requested ?? 0) > 0,
        blocked: (counts.get(row.id)?.blocking ?? 0) > 0,
        approved: approved.get(row.id) ?? true,
        pipelineStatus: statusOf(row.id),
        pipelineRequired: targetSetting(row, 'only_allow_merge_if_pipeline_succeeds'),
        waiting: waiting.includes(row.id),
      },
    ]),
  )
}

function ownFacts(row: MergeRequestRow) {
  return {
    state: row.state,
    prepared: row.prepared_at !== null,
    mergeStatus: row.merge_status,
    mergeAfter: row.merge_after,
    draft: row.draft === 1,
    sourceBranchExists: row.source_branch_exists === 1,
    commitsAhead: row.commits_ahead,
    commitsBehind: row.commits_behind,
    discussionsMustBeResolved: targetSetting(
      row,
      'only_allow_merge_if_all_discussions_are_resolved',
    ),
    approvalsSyncing: row.approvals_syncing === 1,
    method: targetSetting(row, 'merge_method'),
    skippedPipelinePasses: targetSetting(row, 'allow_merge_on_skipped_pipeline'),
  }
}

/** What decides about one merge request; `waiting` says that its pipeline is to be waited for. */
export async function mergeFacts(
  ctx: Ctx,
  row: MergeRequestRow,
  waiting = row.auto_merge_sha !== null,
): Promise<MergeFacts> {
  const counts = await countsById(ctx.db, viewerOf(ctx), [row.id])
  const facts = await mergeFactsById(ctx, [row], counts, () => waiting)
  return existing(facts.get(row.id))
}

/** `detailed_merge_status` of one merge request. */
export async function statusOf(
  ctx: Ctx,
  row: MergeRequestRow,
  waiting?: boolean,
): Promise<DetailedMergeStatus> {
  return detailedMergeStatus(await mergeFacts(ctx, row, waiting))
}
