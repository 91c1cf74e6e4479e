import { userOf } from '../../../access/actor.ts'
import { mayInProject } from '../../../access/decide.ts'
import { findProjectById } from '../../../access/find-queries.ts'
import { findVisibleProject, type Project, withProjectRole } from '../../../access/subjects.ts'
import { Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { usableMilestonesByTitle } from '../../../planning/milestones/verbs.ts'
import { branchOf, isDeletion, type RefMove } from '../../../repositories/refs/moves.ts'
import { createMergeRequest } from '../change/create.ts'
import { withDraftMark } from '../change/draft-title.ts'
import { changeMergeRequest } from '../change/update.ts'
import { assertMayEdit, reload } from '../find.ts'
import { descriptionJob } from '../jobs.ts'
import { setAutoMerge } from '../merge/auto-merge-set.ts'
import { listAssigneeIds, listUserIdsByName } from '../people/queries.ts'
import { listOpenFromBranch } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import { targetProject } from '../target-project.ts'
import { type PushWishes, readPushOptions, titleOfBranch } from './push-option-words.ts'

/** Most branches of one push that may have merge request options (docs/contract/D §3.6). */
const mostBranches = 10

/** A push whose refs have moved, and what it asked. */
export interface AskingPush {
  readonly projectId: number
  readonly options: readonly string[]
  readonly moves: readonly RefMove[]
}

/**
 * Opens and changes merge requests as a push asked (docs/contract/D §3.6). Gives what could not be done, for the user to read: the
 * push itself stands.
 */
export async function applyPushOptions(ctx: Ctx, push: AskingPush): Promise<string[]> {
  const wishes = readPushOptions(push.options)
  const found = wishes && (await findProjectById(ctx.db, push.projectId))
  if (!wishes || !found) return []
  const project = await withProjectRole(ctx, found)
  const branches = push.moves
    .filter((move) => !isDeletion(move))
    .flatMap((move) => branchOf(move.name) ?? [])
  const failed = (text: string) => {
    const names = push.options.filter((option) => /^(?:merge_request|mr)\./.test(option))
    const said = names.map((option) => `'${option.split('=')[0]}'`).join(', ')
    return `Error encountered with push options ${said}: ${text}`
  }
  if (branches.length > mostBranches) {
    const count = `${branches.length} were pushed, limit is ${mostBranches}`
    return [failed(`Too many branches pushed (${count})`)]
  }
  const warnings: string[] = []
  for (const branch of branches) {
    try {
      const refusal = await applyToBranch(ctx, project, branch, wishes)
      if (refusal !== undefined) warnings.push(failed(refusal))
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      warnings.push(failed(textsOf(error).join(' and ')))
    }
  }
  return warnings
}

/** The sentences of a problem, without the status that the API puts before them. */
function textsOf(problem: Problem): string[] {
  const said = typeof problem.body === 'string' ? problem.body : problem.body.message
  const texts = Array.isArray(said) ? said.map(String) : [problem.message]
  return texts.map((text) => text.replace(/^\d{3} [A-Z][\w ]* - /, ''))
}

async function applyToBranch(
  ctx: Ctx,
  project: Project,
  branch: string,
  wishes: PushWishes,
): Promise<string | undefined> {
  const target = wishes.targetProject
    ? await findVisibleProject(ctx, wishes.targetProject)
    : project
  if (!target) return `Target project ${wishes.targetProject} could not be found`
  const open = (await listOpenFromBranch(ctx.db, project.id, branch)).filter(
    (row) => row.target_project_id === target.id,
  )
  const known = open.find(
    (row) => !wishes.create || !wishes.target || row.target_branch === wishes.target,
  )
  if (known) {
    await changeByWishes(ctx, known, wishes)
    return undefined
  }
  if (!wishes.create) {
    return `A merge_request.create push option is required to create a merge request for branch ${branch}`
  }
  const into = wishes.target ?? target.default_branch
  if (into === null || !mayInProject(ctx.actor, project, 'create_merge_request_from')) {
    return 'User access was denied'
  }
  const title = wishes.title ?? titleOfBranch(branch)
  const row = await createMergeRequest(ctx, project, {
    title: wishes.draft ? withDraftMark(title) : title,
    description: wishes.description,
    source_branch: branch,
    target_branch: into,
    target_project_id: target.id,
    labels: [...wishes.labels],
    remove_source_branch: wishes.removeSourceBranch,
    squash: wishes.squash,
    assignee_ids: await listUserIdsByName(ctx.db, wishes.assign),
    milestone_id: await milestoneOf(ctx, target, wishes.milestone),
  })
  if (wishes.autoMerge) await setAutoMerge(ctx, target, row, {})
  await readDescription(ctx, row.id, wishes)
  return undefined
}

/** Quick actions of a description are a task's: they may move refs themselves. */
async function readDescription(ctx: Ctx, id: number, wishes: PushWishes): Promise<void> {
  if (!/^\/[a-z]/im.test(wishes.description ?? '')) return
  await ctx.work.enqueue(ctx.db, descriptionJob, { id, user_id: userOf(ctx.actor)?.id ?? null })
}

async function milestoneOf(ctx: Ctx, project: Project, title: string | undefined) {
  if (title === undefined) return undefined
  const place = { projectId: project.id, namespaceId: project.namespace_id }
  const [milestone] = await usableMilestonesByTitle(ctx, place, [title])
  return milestone?.id
}

async function changeByWishes(ctx: Ctx, row: MergeRequestRow, wishes: PushWishes): Promise<void> {
  const project = await targetProject(ctx, row)
  if (!project) return
  assertMayEdit(ctx, project, row)
  const title = wishes.title ?? (wishes.draft ? row.title : undefined)
  await changeMergeRequest(ctx, project, row, {
    ...(title === undefined ? {} : { title: wishes.draft ? withDraftMark(title) : title }),
    ...(wishes.description === undefined ? {} : { description: wishes.description }),
    ...(wishes.target === undefined ? {} : { target_branch: wishes.target }),
    ...(wishes.labels.length === 0 ? {} : { add_labels: [...wishes.labels] }),
    ...(wishes.unlabels.length === 0 ? {} : { remove_labels: [...wishes.unlabels] }),
    ...(wishes.squash === undefined ? {} : { squash: wishes.squash }),
    ...(wishes.removeSourceBranch === undefined
      ? {}
      : { remove_source_branch: wishes.removeSourceBranch }),
    ...(await peopleOf(ctx, row, wishes)),
    milestone_id: await milestoneOf(ctx, project, wishes.milestone),
  })
  if (wishes.autoMerge) await setAutoMerge(ctx, project, await reload(ctx, row.id), {})
  await readDescription(ctx, row.id, wishes)
}

async function peopleOf(ctx: Ctx, row: MergeRequestRow, wishes: PushWishes) {
  if (wishes.assign.length + wishes.unassign.length === 0) return {}
  const before = await listAssigneeIds(ctx.db, row.id)
  const added = await listUserIdsByName(ctx.db, wishes.assign)
  const removed = new Set(await listUserIdsByName(ctx.db, wishes.unassign))
  return { assignee_ids: [...before, ...added].filter((id) => !removed.has(id)) }
}
