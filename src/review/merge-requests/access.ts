import { userOf } from '../../access/actor.ts'
import { type Condition, condition, mayOr } from '../../access/conditions.ts'
import { type Conditions, mayInProject } from '../../access/decide.ts'
import { projectRecord } from '../../access/records.ts'
import {
  findProjectWithRole,
  findVisibleProject,
  getVisibleProject,
  type Project,
} from '../../access/subjects.ts'
import { forbidden, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { noteableConditions } from '../../discussions/notes/access.ts'
import { mayMergeBranch, mayPushBranch } from '../../repositories/refs/check-rules.ts'
import { getMergeRequest, noteableOf } from './find.ts'
import { params } from './path.ts'
import { findById } from './queries.ts'
import type { MergeRequestRow } from './row.ts'

function requestConditions(ctx: Ctx, project: Project, row: MergeRequestRow): Conditions {
  return {
    ...noteableConditions(noteableOf(ctx, project, row)),
    author: row.author_id !== null && row.author_id === userOf(ctx.actor)?.id,
  }
}

/** The merge request of `:merge_request_iid`. */
export const onMergeRequest = projectRecord('read_merge_requests', {
  params,
  find: async ({ ctx, project, params }) => ({
    mergeRequest: await getMergeRequest(ctx, project, params.merge_request_iid),
  }),
  conditions: ({ ctx, project, mergeRequest }) => requestConditions(ctx, project, mergeRequest),
})

/** Developers, and the author of the merge request (docs/contract/D §2.2). */
export function mayEdit(ctx: Ctx, project: Project, row: MergeRequestRow): boolean {
  const conditions = requestConditions(ctx, project, row)
  return mayInProject(ctx.actor, project, 'edit_merge_request', conditions)
}

/** Whether the caller sets labels, people, milestones and locks of merge requests into the project. */
export function maySortRequests(ctx: Ctx, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'update_merge_request')
}

/** Whether the caller may open merge requests from branches of one project into another, or into itself. */
export function mayOpen(ctx: Ctx, from: Project, into: Project): boolean {
  if (!mayInProject(ctx.actor, from, 'create_merge_request_from')) return false
  return into.id === from.id || mayInProject(ctx.actor, into, 'create_merge_request_in')
}

/** Whether the caller may read the merge requests of a project that they see. */
export function mayReadRequests(ctx: Ctx, project: Project): boolean {
  return mayInProject(ctx.actor, project, 'read_merge_requests')
}

/** The same for a project of which the id is known. */
export async function mayReadRequestsOf(ctx: Ctx, projectId: number): Promise<boolean> {
  const project = await findVisibleProject(ctx, String(projectId))
  return project !== undefined && mayReadRequests(ctx, project)
}

/** A merge request of any project, if the caller may see it. */
export async function findSeenRequest(ctx: Ctx, id: number): Promise<MergeRequestRow | undefined> {
  const row = await findById(ctx.db, id)
  const project = row && (await findProjectWithRole(ctx, row.target_project_id))
  return project && mayInProject(ctx.actor, project, 'read_merge_requests') ? row : undefined
}

interface NewRequest {
  readonly ctx: Ctx
  readonly project: Project
  readonly body: { readonly target_project_id?: number | undefined }
}

/** The project that a new merge request goes into: its own, or one that the caller may see. */
export function targetOfNew({ ctx, project, body }: NewRequest): Promise<Project> | Project {
  const { target_project_id: id = project.id } = body
  return id === project.id ? project : getVisibleProject(ctx, String(id))
}

/** Another project than that of the source branch must let the caller open merge requests. */
export const opensRequest: Condition<NewRequest> = condition(
  'target_project_id: create_merge_request_in there',
  async (given) => {
    const target = await targetOfNew(given)
    if (target === given.project) return true
    return mayOr(given.ctx, mayInProject(given.ctx.actor, target, 'create_merge_request_in'))
  },
)

/** What strangers leave to the members of the project that the merge request goes into (docs/contract/D §2.2). */
export const sortFields = [
  'labels',
  'add_labels',
  'assignee_id',
  'assignee_ids',
  'reviewer_ids',
  'milestone_id',
] as const

/** Developers set labels, people and milestones; from others these are ignored. */
export const sortsRequest: Condition<NewRequest> = {
  name: `${sortFields.join(', ')}: ignored without update_merge_request in the target project`,
  assert: async (given) => (maySortRequests(given.ctx, await targetOfNew(given)) ? [] : sortFields),
}

const lendingFields = ['allow_collaboration', 'allow_maintainer_to_push']

/** Who may push to the source branch alone lets others push there. */
export const lendsSource: Condition<Pick<Merging, 'ctx' | 'mergeRequest'>> = {
  name: `${lendingFields.join(', ')}: ignored without push_code in the source project`,
  async assert({ ctx, mergeRequest }) {
    const source = await findProjectWithRole(ctx, mergeRequest.source_project_id)
    return source && mayInProject(ctx.actor, source, 'push_code') ? [] : lendingFields
  },
}

interface Merging {
  readonly ctx: Ctx
  readonly project: Project
  readonly mergeRequest: MergeRequestRow
}

/** Who merges may merge into the very branch: its protection says who that is. 401 for others. */
export const mergesIntoTarget: Condition<Merging> = condition(
  'may merge into the target branch',
  async ({ ctx, project, mergeRequest }) =>
    (await mayMergeBranch(ctx, project, mergeRequest.target_branch)) || unauthorized(),
)

/** The project of the source branch, if the caller may push to that and read what comes from the target. */
export async function findPushableSource(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
): Promise<Project | undefined> {
  if (!mayInProject(ctx.actor, project, 'read_code')) return undefined
  const source = await findProjectWithRole(ctx, row.source_project_id)
  return source && (await mayPushBranch(ctx, source, row.source_branch)) ? source : undefined
}

/** The merge request, for those who may push to its source branch. */
export function onPushableRequest() {
  const access = onMergeRequest(undefined, { signedIn: true })
  const find: typeof access.find = async (request) => {
    const found = await access.find(request)
    if (await findPushableSource(request.ctx, found.project, found.mergeRequest)) return found
    throw forbidden('Cannot push to source branch')
  }
  return { ...access, needs: 'read_code, and may push to the source branch', find }
}

/** Who resets approvals may edit the merge request; 401 for others. */
export const resetsApprovals: Condition<Merging> = condition(
  'edit_merge_request, else 401',
  ({ ctx, project, mergeRequest }) => mayEdit(ctx, project, mergeRequest) || unauthorized(),
)

/** Merge requests of a commit are for those who may read merge requests. */
export const readsRequests: Condition<{ readonly ctx: Ctx; readonly project: Project }> = condition(
  'read_merge_requests',
  ({ ctx, project }) => mayInProject(ctx.actor, project, 'read_merge_requests') || forbidden(),
)
