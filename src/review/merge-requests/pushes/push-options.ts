import { userOf } from '../../../access/actor.ts'
import { findProjectWithRole, findVisibleProject, type Project } from '../../../access/subjects.ts'
import { forbidden, Problem } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { readLog } from '../../../git/history/log.ts'
import type { Commit } from '../../../git/types.ts'
import { listMilestonesByTitle } from '../../../planning/milestones/queries.ts'
import { placeOfProject } from '../../../planning/place.ts'
import { titleOf } from '../../../repositories/commits/entity.ts'
import { branchOf, isDeletion, type RefMove } from '../../../repositories/refs/moves.ts'
import { ifFound } from '../../../repositories/repository/missing.ts'
import { mayEdit, mayOpen, maySortRequests } from '../access.ts'
import { branchHead } from '../branch-heads.ts'
import { longestDescription } from '../change/body-params.ts'
import { createMergeRequest, longestTitle } from '../change/create.ts'
import { withDraftMark } from '../change/draft-title.ts'
import { changeMergeRequest } from '../change/update.ts'
import { reload } from '../find.ts'
import { descriptionJob } from '../jobs.ts'
import { setAutoMerge } from '../merge/auto-merge.ts'
import { listAssigneeIds, listUserIdsByName } from '../people/queries.ts'
import { listOpenAt } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import { type PushOptions, readPushOptions, titleOfBranch } from './push-option-words.ts'

/** Most branches of one push that may have merge request options (docs/contract/D §3.6). */
const mostBranches = 10

/** Labels that one push may set, or take off, and people that it may assign. */
const mostValues = 100

function valuesOf({ labels, unlabels, assign, unassign }: PushOptions) {
  return [labels, unlabels, assign, unassign]
}

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
  const options = readPushOptions(push.options)
  const project = options && (await findProjectWithRole(ctx, push.projectId))
  if (!options || !project) return []
  const branches = push.moves
    .filter((move) => !isDeletion(move))
    .flatMap((move) => branchOf(move.name) ?? [])
  const failed = (text: string) => {
    const names = push.options.filter((option) => /^(?:merge_request|mr)\./.test(option))
    const words = [...new Set(names.map((option) => option.split('=')[0]))]
    const said = words.map((word) => `'${word}'`).join(', ')
    return `Error encountered with push options ${said}: ${text}`
  }
  if (mostValues < Math.max(...valuesOf(options).map((values) => values.length))) {
    return [failed(`A push may name ${mostValues} labels or people at most`)]
  }
  if (branches.length > mostBranches) {
    const count = `${branches.length} were pushed, limit is ${mostBranches}`
    return [failed(`Too many branches pushed (${count})`)]
  }
  const warnings: string[] = []
  for (const branch of branches) {
    try {
      const refusal = await applyToBranch(ctx, project, branch, options)
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
  options: PushOptions,
): Promise<string | undefined> {
  const target = options.targetProject
    ? await findVisibleProject(ctx, options.targetProject)
    : project
  if (!target) return `Target project ${options.targetProject} could not be found`
  const open = (await listOpenAt(ctx.db, 'source', project.id, branch)).filter(
    (row) => row.target_project_id === target.id,
  )
  const known = open.find(
    (row) => !options.create || !options.target || row.target_branch === options.target,
  )
  if (known) {
    await changeByOptions(ctx, known, options)
    return undefined
  }
  if (!options.create) {
    return `A merge_request.create push option is required to create a merge request for branch ${branch}`
  }
  const into = options.target ?? target.default_branch
  if (into === null || !mayOpen(ctx, project, target)) {
    return 'User access was denied'
  }
  const words = options.title
    ? { title: options.title }
    : await wordsOf(ctx, { projectId: project.id, branch }, { projectId: target.id, branch: into })
  const sorts = maySortRequests(ctx, target)
  const row = await createMergeRequest(ctx, project, target, {
    title: options.draft ? withDraftMark(words.title) : words.title,
    description: options.description ?? words.description,
    source_branch: branch,
    target_branch: into,
    labels: sorts ? [...options.labels] : [],
    remove_source_branch: options.removeSourceBranch,
    squash: options.squash,
    assignee_ids: sorts ? await listUserIdsByName(ctx.db, options.assign) : undefined,
    milestone_id: sorts ? await milestoneOf(ctx, target, options.milestone) : undefined,
  })
  if (options.autoMerge) await setAutoMerge(ctx, target, row, {})
  await readDescription(ctx, row.id, options)
  return undefined
}

interface Branch {
  readonly projectId: number
  readonly branch: string
}

interface Words {
  readonly title: string
  readonly description?: string | undefined
}

/** What a merge request is called that was given no title: as its commit where it has one alone, else as its branch. */
async function wordsOf(ctx: Ctx, source: Branch, target: Branch): Promise<Words> {
  const commit = await onlyCommit(ctx, source, target)
  const title = commit && titleOf(commit).trim()
  // With the mark of a draft it has to fit as well.
  if (!commit || !title || withDraftMark(title).length > longestTitle) {
    return { title: titleOfBranch(source.branch) }
  }
  const rest = commit.message.slice(titleOf(commit).length).trim()
  return { title, description: rest.slice(0, longestDescription) || undefined }
}

/** The commit that a branch has more than its target, if it is one. A fork need not have the target's commits. */
async function onlyCommit(ctx: Ctx, source: Branch, target: Branch): Promise<Commit | undefined> {
  const [head, base] = await Promise.all(
    [source, target].map(({ projectId, branch }) => branchHead(ctx, projectId, branch)),
  )
  if (!head || !base) return undefined
  const repo = ctx.git.open(source.projectId)
  const found = await ifFound(readLog(repo, { revision: `${base}..${head}`, limit: 1 }))
  return found?.more ? undefined : found?.commits[0]
}

/** Quick actions of a description are a task's: they may move refs themselves. */
async function readDescription(ctx: Ctx, id: number, options: PushOptions): Promise<void> {
  if (!/^\/[a-z]/im.test(options.description ?? '')) return
  await ctx.work.enqueue(ctx.db, descriptionJob, { id, user_id: userOf(ctx.actor)?.id ?? null })
}

async function milestoneOf(ctx: Ctx, project: Project, title: string | undefined) {
  if (title === undefined) return undefined
  const [milestone] = await listMilestonesByTitle(ctx.db, placeOfProject(project), [title])
  return milestone?.id
}

async function changeByOptions(
  ctx: Ctx,
  row: MergeRequestRow,
  options: PushOptions,
): Promise<void> {
  const project = await findProjectWithRole(ctx, row.target_project_id)
  if (!project) return
  if (!mayEdit(ctx, project, row)) throw forbidden()
  const title = options.title ?? (options.draft ? row.title : undefined)
  await changeMergeRequest(ctx, project, row, {
    title: title && options.draft ? withDraftMark(title) : title,
    description: options.description,
    target_branch: options.target,
    squash: options.squash,
    remove_source_branch: options.removeSourceBranch,
    ...(maySortRequests(ctx, project) ? await sortingOf(ctx, project, row, options) : {}),
  })
  if (options.autoMerge) await setAutoMerge(ctx, project, await reload(ctx, row.id), {})
  await readDescription(ctx, row.id, options)
}

async function sortingOf(ctx: Ctx, project: Project, row: MergeRequestRow, options: PushOptions) {
  return {
    add_labels: options.labels.length === 0 ? undefined : [...options.labels],
    remove_labels: options.unlabels.length === 0 ? undefined : [...options.unlabels],
    ...(await peopleOf(ctx, row, options)),
    milestone_id: await milestoneOf(ctx, project, options.milestone),
  }
}

async function peopleOf(ctx: Ctx, row: MergeRequestRow, options: PushOptions) {
  if (options.assign.length + options.unassign.length === 0) return {}
  const before = await listAssigneeIds(ctx.db, row.id)
  const added = await listUserIdsByName(ctx.db, options.assign)
  const removed = new Set(await listUserIdsByName(ctx.db, options.unassign))
  return { assignee_ids: [...before, ...added].filter((id) => !removed.has(id)) }
}
