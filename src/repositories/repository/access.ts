import type { ProjectAbility } from '../../access/abilities.ts'
import { userOf } from '../../access/actor.ts'
import { type Condition, condition } from '../../access/conditions.ts'
import { mayInProject } from '../../access/decide.ts'
import { featureLevel } from '../../access/features.ts'
import { type Access, assertMayInProject, onProject, type Project } from '../../access/subjects.ts'
import { forbidden, invalidText, notFound, type Problem, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isBranchName } from '../../git/names.ts'
import type { Repo } from '../../git/repo.ts'
import { mayPushSomewhere } from '../refs/access.ts'
import { mayPushBranch } from '../refs/check-rules.ts'

/** What a repository endpoint is handed. */
export interface RepositorySubject {
  readonly project: Project
  readonly repo: Repo
}

interface RepositoryOptions {
  /** A switched-off repository is hidden (404) instead of refused (403): commits, branches, tags. */
  readonly hidden?: boolean
}

/**
 * The project of `:id` with its repository, for reading its code: visitors of public projects too. Who sees the project
 * but not its code gets 403, signed in or not; commits, branches and tags of a switched-off repository are 404 (spec
 * B-resolved §0).
 */
export function onCode(options: RepositoryOptions = {}): Access<RepositorySubject> {
  return onRepository('read_code', options, (ctx, project) => {
    if (!mayInProject(ctx.actor, project, 'read_code')) throw forbidden()
  })
}

/** What endpoints that read code declare: its access, and the scopes of which a token needs one. */
export function codeRead(options: RepositoryOptions = {}) {
  return { access: onCode(options), scopes: ['api', 'read_api', 'read_repository'] }
}

/** As `onCode`, for writes: anonymous callers get 401. */
export function onWritableCode(
  ability: ProjectAbility,
  options: RepositoryOptions = {},
): Access<RepositorySubject> {
  return onRepository(ability, options, (ctx, project) => {
    // Comments take less than reading the code does, where the project is private.
    if (!mayInProject(ctx.actor, project, 'read_code')) throw forbidden()
    assertMayInProject(ctx, project, ability)
  })
}

const MAY_NOT_PUSH = 'You are not allowed to push into this branch'

/**
 * The project of `:id` with its repository, for those who may push at all; whether they may push to the very branch is
 * asked once it is known (`pushesBranch`). Both are refused with the same words.
 */
export function onPush({ refusal = MAY_NOT_PUSH, hidden = true } = {}): Access<RepositorySubject> {
  return onRepository('push_code', { hidden }, async (ctx, project) => {
    if (await mayPushSomewhere(ctx, project)) return
    throw ctx.actor.kind === 'anonymous' ? unauthorized() : forbidden(refusal)
  })
}

interface Pushing {
  readonly ctx: Ctx
  readonly project: Project
  readonly body: { readonly branch?: unknown }
}

/** Who writes to a branch may push to it: its protection says who that is. */
function pushesTo(
  branchOf: (given: Pushing) => unknown,
  refusal: () => Problem,
): Condition<Pushing> {
  return condition('branch: may push there', async (given) => {
    const { ctx, project } = given
    const branch = branchOf(given)
    const may =
      typeof branch === 'string' && isBranchName(branch)
        ? await mayPushBranch(ctx, project, branch)
        : await mayPushSomewhere(ctx, project)
    return may || refusal()
  })
}

/** 403 with the sentence of docs/contract/B-resolved §2.2 for whoever may not push to the branch. */
export const pushesBranch = pushesTo(
  ({ body }) => body.branch,
  () => forbidden(MAY_NOT_PUSH),
)

/** The same with 400, as the files API has it (docs/contract/B-resolved §3). */
export const writesBranch = pushesTo(
  ({ body }) => body.branch,
  () => invalidText(MAY_NOT_PUSH),
)

/** The same for a branch that is the default one unless it is sent. */
export function commitsToBranch(refusal: string): Condition<Pushing> {
  return pushesTo(
    ({ project, body }) => body.branch || (project.default_branch ?? ''),
    () => forbidden(refusal),
  )
}

function onRepository(
  ability: ProjectAbility,
  options: RepositoryOptions,
  assertMay: (ctx: Ctx, project: Project) => void | Promise<void>,
): Access<RepositorySubject> {
  const visible = onProject('read_project')
  return {
    ...visible,
    needs: ability,
    async find(request) {
      const { project } = await visible.find(request)
      if (options.hidden && isRepositoryOff(request.ctx, project)) throw notFound('Repository')
      await assertMay(request.ctx, project)
      return { project, repo: request.ctx.git.open(project.id) }
    },
  }
}

function isRepositoryOff(ctx: Ctx, project: Project): boolean {
  const level = featureLevel(project.settings, 'repository')
  if (level === 'disabled') return true
  return level === 'private' && project.role === 0 && userOf(ctx.actor)?.admin !== true
}

/** The ref that stands for the default branch, even where a tag has the same name. */
export function defaultRef(project: Pick<Project, 'default_branch'>): string {
  return project.default_branch === null ? 'HEAD' : `refs/heads/${project.default_branch}`
}

/** The caller's ref, or the default branch when there is none or it is blank. */
export function refOrDefault(
  project: Pick<Project, 'default_branch'>,
  ref: string | undefined,
): string {
  return ref === undefined || ref.trim() === '' ? defaultRef(project) : ref
}

/** `https://host/group/project`, without a slash at its end. */
export function projectUrl(ctx: Pick<Ctx, 'config'>, project: Pick<Project, 'full_path'>): string {
  return `${ctx.config.externalUrl}/${project.full_path}`
}
