import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { collaborationBranches, getMover, refusalOfPushes } from './access.ts'
import { defaultProtection } from './default-protection.ts'
import { isCreation, isDeletion, type Push, type RefMove, type Refusal } from './moves.ts'
import type { ObjectFacts } from './object-facts.ts'
import { listBranchRules, listTagRules } from './queries.ts'
import type { CheckedPush } from './rules.ts'

/**
 * Every rule on moving branches and tags of a project (docs/contract/D §3.7), for pushes and for the API
 * alike. Without `objects` the rules that need to look at new commits are left for a second call,
 * which git's quarantine makes possible. One refusal refuses the whole push.
 */
export async function checkMoves(
  ctx: Ctx,
  project: Project,
  push: Push,
  objects: ObjectFacts | undefined,
): Promise<readonly Refusal[]> {
  if (push.via === 'system') return []
  const general = refusalOfPushes(ctx, project)
  if (general && !(await isCollaboration(ctx, project, push)))
    return push.moves.map(({ name }) => ({ name, reason: general }))
  const [branchRules, tagRules] = await Promise.all([
    listBranchRules(ctx.db, project.id, project.namespace_id),
    listTagRules(ctx.db, project.id),
  ])
  const checked: CheckedPush = {
    project,
    push,
    mover: await getMover(ctx, project, branchRules, tagRules),
    branchRules,
    tagRules,
    developersStart:
      !project.empty_repo || (await defaultProtection(ctx, project.namespace_id)).developersStart,
    objects,
  }
  const refusals: Refusal[] = []
  for (const move of push.moves) {
    const reason = await refusalOf(ctx, checked, move)
    if (reason !== undefined) refusals.push({ name: move.name, reason })
  }
  if (refusals.length > 0) return refusals
  for (const rule of ctx.effects.mayPush) {
    const found = await rule(ctx, checked)
    if (found.length > 0) return found
  }
  return []
}

/** Whether all that moves are branches of merge requests that let the caller push, who neither makes nor removes one. */
async function isCollaboration(ctx: Ctx, project: Project, push: Push): Promise<boolean> {
  if (push.via === 'merge') return false
  const branches = await collaborationBranches(ctx, project)
  return push.moves.every(
    (move) => branches.has(move.name) && !isCreation(move) && !isDeletion(move),
  )
}

async function refusalOf(ctx: Ctx, push: CheckedPush, move: RefMove): Promise<string | undefined> {
  for (const rule of ctx.effects.mayMoveRef) {
    const reason = await rule(ctx, push, move)
    if (reason !== undefined) return reason
  }
  return undefined
}

/** Whether the caller may push to a branch, or to a new one of this name (`can_push` on the wire). */
export async function mayPushBranch(ctx: Ctx, project: Project, branch: string): Promise<boolean> {
  const move = { name: `refs/heads/${branch}`, oldId: '1'.repeat(40), newId: '2'.repeat(40) }
  return (await checkMoves(ctx, project, { via: 'api', moves: [move] }, undefined)).length === 0
}

/** Whether the caller may merge into a branch (`can_merge` on the wire). */
export async function mayMergeBranch(ctx: Ctx, project: Project, branch: string): Promise<boolean> {
  const move = { name: `refs/heads/${branch}`, oldId: '1'.repeat(40), newId: '2'.repeat(40) }
  return (await checkMoves(ctx, project, { via: 'merge', moves: [move] }, undefined)).length === 0
}
