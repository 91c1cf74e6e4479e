import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { branchStates } from '../../repositories/refs/branch-state.ts'
import { approvedById } from '../../review/approval-rules/approved.ts'
import { targetSetting } from '../../review/merge-requests/facts.ts'
import { squashOnMerge } from '../../review/merge-requests/present.ts'
import type { MergeRequestRow, VersionRow } from '../../review/merge-requests/row.ts'
import { findRequestWords } from './queries.ts'

const LONGEST_DESCRIPTION = 2700

interface Origin {
  readonly target: Project
  readonly source: Project
  readonly event: 'detached' | 'merged_result'
  readonly sourceSha: string
  readonly targetSha: string | undefined
  readonly version: VersionRow | undefined
}

/** `CI_MERGE_REQUEST_…`, which rules and jobs of a pipeline for a merge request see (docs/contract/D §5.6). */
export async function requestVariables(
  ctx: Ctx,
  row: MergeRequestRow,
  origin: Origin,
): Promise<ReadonlyMap<string, string>> {
  const { target, source, event, version } = origin
  const words = await findRequestWords(ctx.db, row.id)
  const approved = (await approvedById(ctx, [row])).get(row.id)
  const squashOption = targetSetting(row, 'squash_option')
  const description = row.description ?? ''
  const urlOf = (project: Project) => `${ctx.config.externalUrl}/${project.full_path}`
  const isProtected = async (project: Project, branch: string) =>
    String((await branchStates(ctx, project))(branch).protected)
  const merged = event === 'merged_result'
  const pairs: readonly (readonly [string, string | undefined])[] = [
    ['ID', String(row.id)],
    ['IID', String(row.iid)],
    ['TITLE', row.title],
    ['DESCRIPTION', description.slice(0, LONGEST_DESCRIPTION)],
    ['DESCRIPTION_IS_TRUNCATED', String(description.length > LONGEST_DESCRIPTION)],
    ['LABELS', words.labels.join(',') || undefined],
    ['ASSIGNEES', words.assignees.join(', ') || undefined],
    ['MILESTONE', words.milestone],
    ['DRAFT', String(row.draft === 1)],
    ['APPROVED', approved ? 'true' : undefined],
    ['EVENT_TYPE', event],
    ['PROJECT_ID', String(target.id)],
    ['PROJECT_PATH', target.full_path],
    ['PROJECT_URL', urlOf(target)],
    ['REF_PATH', `refs/merge-requests/${row.iid}/${merged ? 'merge' : 'head'}`],
    ['SOURCE_BRANCH_NAME', row.source_branch],
    ['SOURCE_BRANCH_PROTECTED', await isProtected(source, row.source_branch)],
    ['SOURCE_BRANCH_SHA', merged ? origin.sourceSha : ''],
    ['SOURCE_PROJECT_ID', String(source.id)],
    ['SOURCE_PROJECT_PATH', source.full_path],
    ['SOURCE_PROJECT_URL', urlOf(source)],
    ['TARGET_BRANCH_NAME', row.target_branch],
    ['TARGET_BRANCH_PROTECTED', await isProtected(target, row.target_branch)],
    ['TARGET_BRANCH_SHA', merged ? origin.targetSha : ''],
    ['DIFF_BASE_SHA', version?.base_sha],
    ['DIFF_ID', version && String(version.id)],
    ['SQUASH_ON_MERGE', String(squashOnMerge(squashOption, row.squash === 1))],
  ]
  return new Map(
    pairs.flatMap(([name, value]) =>
      value === undefined ? [] : [[`CI_MERGE_REQUEST_${name}`, value] as const],
    ),
  )
}
