import { Role } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { collaborationBranches, getMover } from './access.ts'
import { type BranchRule, mayCreateTag, mayPushTo, rulesFor } from './protection.ts'
import { listBranchRules, listTagRules } from './queries.ts'

/** How a branch is protected, and whether the caller may push to it, as branches show it. */
export interface BranchState {
  readonly protected: boolean
  readonly developers_can_push: boolean
  readonly developers_can_merge: boolean
  readonly can_push: boolean
}

/** Looks the rules of a project up once, and gives the state of any of its branches. */
export async function branchStates(
  ctx: Ctx,
  project: Project,
): Promise<(branch: string) => BranchState> {
  const known = await listBranchRules(ctx.db, project.id, project.namespace_id)
  const mover = await getMover(ctx, project, known, [])
  const maySomewhere = mover.may('push_code')
  const branches = maySomewhere ? new Set() : await collaborationBranches(ctx, project)
  return (branch) => {
    const rules = rulesFor(known, branch)
    const isProtected = rules.length > 0
    return {
      protected: isProtected,
      developers_can_push: isProtected && developers(rules, 'push'),
      developers_can_merge: isProtected && developers(rules, 'merge'),
      can_push:
        (maySomewhere || branches.has(`refs/heads/${branch}`)) &&
        (!isProtected || mayPushTo(rules, mover)),
    }
  }
}

function developers(rules: readonly BranchRule[], action: 'push' | 'merge'): boolean {
  return rules.some((rule) => rule[action].some((level) => level.access_level === Role.developer))
}

/** Looks the rules of a project up once, and gives which tags are protected. */
export async function tagProtection(
  ctx: Ctx,
  project: Pick<Project, 'id'>,
): Promise<(tag: string) => boolean> {
  const known = await listTagRules(ctx.db, project.id)
  return (tag) => rulesFor(known, tag).length > 0
}

/** Whether the caller could make this tag as far as protection goes, which releases of it ask too (docs/contract/D §2.2). */
export async function passesTagProtection(
  ctx: Ctx,
  project: Project,
  tag: string,
): Promise<boolean> {
  const rules = rulesFor(await listTagRules(ctx.db, project.id), tag)
  return rules.length === 0 || mayCreateTag(rules, await getMover(ctx, project, [], rules))
}
