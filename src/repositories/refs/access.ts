import { type DeployKeyActor, userOf } from '../../access/actor.ts'
import { mayInProject, maySee } from '../../access/decide.ts'
import { findGroupRole, findProjectRole } from '../../access/find-queries.ts'
import { Role } from '../../access/roles.ts'
import { findProjectWithRole, type Project } from '../../access/subjects.ts'
import { dayOf } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import {
  type BranchRule,
  type Level,
  type Mover,
  mayMergeInto,
  mayPushTo,
  rulesFor,
  type TagRule,
} from './protection.ts'
import { listBranchRules, listCollaborations } from './queries.ts'

/** The caller as protection rules see them; asks for memberships only of groups that a rule names. */
export async function getMover(
  ctx: Ctx,
  project: Project,
  branchRules: readonly BranchRule[],
  tagRules: readonly TagRule[],
): Promise<Mover> {
  if (ctx.actor.kind === 'deploy_key') return await moverByKey(ctx, ctx.actor, project)
  const levels: readonly Level[] = [
    ...branchRules.flatMap((rule) => [...rule.push, ...rule.merge, ...rule.unprotect]),
    ...tagRules.flatMap((rule) => rule.create),
  ]
  const user = userOf(ctx.actor)
  const named = new Set(levels.flatMap((level) => level.group_id ?? []))
  const groupIds = new Set<number>()
  if (user) {
    for (const id of named) {
      if ((await findGroupRole(ctx.db, user.id, id, dayOf(ctx.now()))) > 0) groupIds.add(id)
    }
  }
  return {
    userId: user?.id ?? null,
    deployKeyId: null,
    groupIds,
    may: (ability) => mayInProject(ctx.actor, project, ability),
    hasLevel: (level) =>
      level === Role.admin ? mayInProject(ctx.actor, project, 'admin_only') : project.role >= level,
  }
}

/**
 * A deploy key passes rules that name it, and those that its owner's role in the project passes (docs/contract/D §3.3): with
 * the membership of the owner both end.
 */
async function moverByKey(ctx: Ctx, actor: DeployKeyActor, project: Project): Promise<Mover> {
  const owner = actor.owner?.state === 'active' ? actor.owner : null
  const role = owner
    ? await findProjectRole(ctx.db, owner.id, project, dayOf(ctx.now()))
    : Role.none
  const isMember = role > Role.none || owner?.admin === true
  return {
    userId: null,
    deployKeyId: isMember ? actor.keyId : null,
    groupIds: new Set(),
    may: (ability) => mayInProject(actor, project, ability),
    hasLevel: (level) => owner?.admin === true || role >= level,
  }
}

/** Why the caller may push to no branch of the project at all. */
export function refusalOfPushes(ctx: Ctx, project: Project): string | undefined {
  if (project.archived) return "You can't push code to an archived project."
  if (mayInProject(ctx.actor, project, 'push_code')) return undefined
  if (ctx.actor.kind === 'deploy_key' && maySee(ctx.actor, project)) {
    return 'This deploy key does not have write access to this project.'
  }
  return 'You are not allowed to push code to this project.'
}

/**
 * Branches, as full refs, that open merge requests lend a caller who may not push to the project: those that allow
 * collaboration let whoever may merge them push to their source, where neither project is private (docs/contract/B-resolved
 * §2.2). What the source's own protection says is asked as ever.
 */
export async function collaborationBranches(
  ctx: Ctx,
  project: Project,
): Promise<ReadonlySet<string>> {
  const branches = new Set<string>()
  if (ctx.actor.kind !== 'user' || project.visibility === 'private') return branches
  // A rebase and suggestions are asked for in the target: whoever sees that alone may not see the fork.
  if (!maySee(ctx.actor, project)) return branches
  if (!mayInProject(ctx.actor, project, 'push_code', { collaboration: true })) return branches
  const targets = new Map<number, MergesInto>()
  for (const { target_project_id: id, ...request } of await listCollaborations(
    ctx.db,
    project.id,
  )) {
    const mergesInto = targets.get(id) ?? (await mergesIntoProject(ctx, id))
    targets.set(id, mergesInto)
    if (mergesInto(request.target_branch)) branches.add(`refs/heads/${request.source_branch}`)
  }
  return branches
}

type MergesInto = (branch: string) => boolean

/** Into which branches the caller may merge, by the project's own rules alone, whatever merge requests lend of it. */
async function mergesIntoProject(ctx: Ctx, id: number): Promise<MergesInto> {
  const target = await findProjectWithRole(ctx, id)
  if (!target || target.visibility === 'private') return () => false
  if (!mayInProject(ctx.actor, target, 'push_code')) return () => false
  const known = await listBranchRules(ctx.db, target.id, target.namespace_id)
  const mover = await getMover(ctx, target, known, [])
  return (branch) => {
    const rules = rulesFor(known, branch)
    return rules.length === 0 || mayMergeInto(rules, mover) || mayPushTo(rules, mover)
  }
}

/** Whether there is a branch that the caller may push to. */
export async function mayPushSomewhere(ctx: Ctx, project: Project): Promise<boolean> {
  if (mayInProject(ctx.actor, project, 'push_code')) return true
  return (await collaborationBranches(ctx, project)).size > 0
}
