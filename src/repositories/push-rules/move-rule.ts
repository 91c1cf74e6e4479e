import type { Ctx } from '../../ctx.ts'
import { branchOf, isCreation, isDeletion, type RefMove, tagOf } from '../refs/moves.ts'
import type { CheckedPush } from '../refs/rules.ts'
import { getPushRule, refusalByPushRule } from './check.ts'

/** What the project's push rule says, once everything else allows the move. */
export async function pushRuleRule(
  ctx: Ctx,
  at: CheckedPush,
  move: RefMove,
): Promise<string | undefined> {
  const { objects } = at
  const branch = branchOf(move.name)
  if (branch === undefined && tagOf(move.name) === undefined) return undefined
  const pushRule = await getPushRule(ctx, at.project.id)
  if (!pushRule) return undefined
  const about = {
    branch,
    isCreation: isCreation(move),
    isDeletion: isDeletion(move),
    isDefault: branch === at.project.default_branch,
  }
  const fresh = objects && {
    commits: () => objects.newCommits(move.newId),
    files: (options: { readonly sizes: boolean }) => objects.newFiles(move.newId, options),
  }
  return await refusalByPushRule(ctx, pushRule, about, fresh)
}
