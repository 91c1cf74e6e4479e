import type { Project } from '../../../access/subjects.ts'
import { runEffects } from '../../../base/effects.ts'
import {
  badRequest,
  conflict,
  invalidText,
  type Problem,
  unprocessable,
} from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { followText } from '../../../discussions/references/follow-text.ts'
import { callerId } from '../../../identity/users/find-user.ts'
import { setLabels } from '../../../planning/labels/set-labels.ts'
import { findUsableMilestone } from '../../../planning/milestones/queries.ts'
import {
  recordLabelEvents,
  recordMilestoneEvent,
} from '../../../planning/resource-events/record.ts'
import { projectSetting } from '../../../projects/projects/settings.ts'
import { areRelated } from '../../../repositories/repository/fork-network.ts'
import { nextIid } from '../../../store/iid.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { uniquely } from '../../../store/unique.ts'
import { branchHead } from '../branch-heads.ts'
import { noteableOf, reload } from '../find.ts'
import { refreshJob } from '../jobs.ts'
import { noteClosingIssues } from '../links/closing-issues.ts'
import { findOpenDuplicate, insertMergeRequest } from '../queries.ts'
import { feedChange } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'
import type { CreateInput } from './body-params.ts'
import { isDraftTitle } from './draft-title.ts'
import { setPeople } from './reviewers.ts'

export const longestTitle = 255

/** Opens a merge request from a branch of `source`; what takes long is left to a task (docs/contract/D §1.10 Create). */
export async function createMergeRequest(
  ctx: Ctx,
  source: Project,
  target: Project,
  input: Omit<CreateInput, 'target_project_id'>,
): Promise<MergeRequestRow> {
  const authorId = callerId(ctx)
  if (target.id !== source.id && !(await areRelated(ctx, source, target))) {
    throw unprocessable(['Source project is not a fork of the target project'])
  }
  assertTitle(input.title)
  const head = await checkedBranches(ctx, source, target, input)
  const branches = {
    sourceProjectId: source.id,
    sourceBranch: input.source_branch,
    targetProjectId: target.id,
    targetBranch: input.target_branch,
  }
  const milestone = await milestoneFor(ctx, target, input.milestone_id)
  const id = await inTransaction(ctx, async (ctx) => {
    await assertNoDuplicate(ctx, branches)
    const iid = await nextIid(ctx.db, target.id, 'merge_request')
    const now = ctx.now()
    const id = await uniquely({ [duplicateKey]: () => duplicateProblem(iid) }, () =>
      insertMergeRequest(ctx.db, {
        iid,
        target_project_id: target.id,
        source_project_id: source.id,
        source_branch: input.source_branch,
        target_branch: input.target_branch,
        title: input.title.trim(),
        description: input.description ?? null,
        draft: isDraftTitle(input.title),
        author_id: authorId,
        milestone_id: milestone,
        head_sha: head,
        merge_after: input.merge_after ?? null,
        squash: input.squash ?? squashPreset(target),
        allow_collaboration: input.allow_collaboration ?? input.allow_maintainer_to_push ?? false,
        force_remove_source_branch: flagValue(input.remove_source_branch),
        approvals_before_merge: input.approvals_before_merge ?? null,
        created_at: now,
        updated_at: now,
      }),
    )
    await addDetails(ctx, target, id, input)
    await feedChange(ctx, await reload(ctx, id), 'opened')
    await runEffects(ctx, ctx.effects.mergeRequestChanged, { project: target, id, action: 'open' })
    await ctx.work.enqueue(ctx.db, refreshJob, { id, user_id: authorId })
    return id
  })
  return reload(ctx, id)
}

/** Labels, people and closing issues. */
async function addDetails(
  ctx: Ctx,
  target: Project,
  id: number,
  input: Omit<CreateInput, 'target_project_id'>,
): Promise<void> {
  const labels = [...(input.labels ?? []), ...(input.add_labels ?? [])]
  const row = await reload(ctx, id)
  if (labels.length > 0) {
    const change = await setLabels(ctx, target, 'merge_request', id, { labels })
    await recordLabelEvents(ctx, { type: 'merge_request', id }, change.added, change.removed)
  }
  await setPeople(ctx, target, row, input)
  await recordMilestoneEvent(ctx, { type: 'merge_request', id }, null, row.milestone_id)
  await followText(ctx, noteableOf(ctx, target, row), `${row.title}\n\n${row.description ?? ''}`)
  await noteClosingIssues(ctx, row)
}

/** The title is what everybody sees: it is not blank, and fits on a line. */
export function assertTitle(title: string): void {
  if (title.trim() === '') throw invalidText(["Title can't be blank"])
  if (title.length > longestTitle) {
    throw invalidText([`Title is too long (maximum is ${longestTitle} characters)`])
  }
}

async function checkedBranches(
  ctx: Ctx,
  source: Project,
  target: Project,
  input: Omit<CreateInput, 'target_project_id'>,
): Promise<string> {
  const { source_branch: from, target_branch: into } = input
  if (source.id === target.id && from === into) {
    throw unprocessable(["You can't use same project/branch for source and target"])
  }
  const head = await branchHead(ctx, source.id, from)
  if (head === undefined) throw invalidText([`source_branch "${from}" does not exist`])
  await assertTargetBranch(ctx, target, into)
  return head
}

export async function assertTargetBranch(ctx: Ctx, target: Project, branch: string): Promise<void> {
  if ((await branchHead(ctx, target.id, branch)) === undefined) {
    throw invalidText([`target_branch "${branch}" does not exist`])
  }
}

const duplicateKey =
  'merge_requests.source_project_id, merge_requests.source_branch, merge_requests.target_project_id, merge_requests.target_branch'

function duplicateProblem(iid: number): Problem {
  return conflict([`Another open merge request already exists for this source branch: !${iid}`])
}

/** 409 when there is an open merge request between the same branches already. */
export async function assertNoDuplicate(
  ctx: Ctx,
  branches: Parameters<typeof findOpenDuplicate>[1],
  exceptId = 0,
): Promise<void> {
  const duplicate = await findOpenDuplicate(ctx.db, branches, exceptId)
  if (duplicate) throw duplicateProblem(duplicate.iid)
}

/** The milestone that was asked for, if the project may use it; 0 and null are none. */
export async function milestoneFor(
  ctx: Ctx,
  project: Project,
  id: number | null | undefined,
): Promise<number | null> {
  if (!id) return null
  const place = { projectId: project.id, namespaceId: project.namespace_id }
  if (!(await findUsableMilestone(ctx.db, place, id))) throw badRequest('milestone_id is invalid')
  return id
}

/** What a project starts merge requests with, where the request says nothing. */
function squashPreset(project: Project): boolean {
  const option = projectSetting(project, 'squash_option')
  return option === 'always' || option === 'default_on'
}

export function flagValue(value: boolean | null | undefined): 0 | 1 | null {
  if (value === undefined || value === null) return null
  return value ? 1 : 0
}
