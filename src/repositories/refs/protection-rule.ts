import type { Ctx } from '../../ctx.ts'
import { branchOf, isCreation, isDeletion, type RefMove, tagOf } from './moves.ts'
import { isProhibited } from './prohibited-names.ts'
import {
  allowForcePush,
  type BranchRule,
  mayCreateTag,
  mayMergeInto,
  mayPushTo,
  rulesFor,
  type TagRule,
} from './protection.ts'
import type { CheckedPush } from './rules.ts'

/** What protections of branches and tags say to a move. */
export async function protectionRule(
  _ctx: Ctx,
  at: CheckedPush,
  move: RefMove,
): Promise<string | undefined> {
  const branch = branchOf(move.name)
  if (branch !== undefined) {
    if (isCreation(move) && isProhibited(branch))
      return `You cannot create a branch with the prohibited name '${branch}'.`
    return await refusalOfBranch(at, move, branch)
  }
  const tag = tagOf(move.name)
  if (tag !== undefined) {
    if (isCreation(move) && isProhibited(tag))
      return `You cannot create a tag with the prohibited name '${tag}'.`
    return refusalOfTag(at, move, tag)
  }
  // Notes have no rules of their own; over the wire git itself refuses all other refs, one by one.
  return at.push.via === 'push' ? undefined : 'You can only move branches and tags.'
}

async function refusalOfBranch(
  at: CheckedPush,
  move: RefMove,
  branch: string,
): Promise<string | undefined> {
  if (isDeletion(move) && branch === at.project.default_branch) {
    return 'The default branch of a project cannot be deleted.'
  }
  const rules = rulesFor(at.branchRules, branch)
  if (rules.length === 0) return refusalOfFirstPush(at)
  if (isDeletion(move)) return refusalOfDeletion(at)
  if (isCreation(move)) return await refusalOfCreation(at, move, rules)
  return await refusalOfUpdate(at, move, rules)
}

/** Before there is anything, the protection to come holds already: it says who may begin. */
function refusalOfFirstPush(at: CheckedPush): string | undefined {
  if (!at.project.empty_repo) return undefined
  if (at.developersStart || at.mover.may('start_protected_branch')) return undefined
  return 'You are not allowed to push code to protected branches on this project.'
}

function refusalOfDeletion(at: CheckedPush): string | undefined {
  if (at.push.via === 'push') {
    return 'You can only delete protected branches using the web interface or the API.'
  }
  if (at.mover.may('delete_protected_ref')) return undefined
  return 'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.'
}

async function refusalOfCreation(
  at: CheckedPush,
  move: RefMove,
  rules: readonly BranchRule[],
): Promise<string | undefined> {
  if (mayPushTo(rules, at.mover)) return undefined
  if (at.push.via === 'push' || !mayMergeInto(rules, at.mover)) {
    return 'You are not allowed to create protected branches on this project.'
  }
  // Who may merge may branch off what is protected already, though not with commits of their own.
  if (!at.objects) return undefined
  const holders = await at.objects.branchesContaining(move.newId)
  const isProtected = holders.some((name) => rulesFor(at.branchRules, name).length > 0)
  if (isProtected) return undefined
  return 'You can only use an existing protected branch ref as the basis of a new protected branch.'
}

async function refusalOfUpdate(
  at: CheckedPush,
  move: RefMove,
  rules: readonly BranchRule[],
): Promise<string | undefined> {
  // Who may push may merge too (docs/contract/D §1.10 Merge).
  const mayMerge = at.push.via === 'merge' && mayMergeInto(rules, at.mover)
  if (!mayMerge && !mayPushTo(rules, at.mover)) {
    return 'You are not allowed to push code to protected branches on this project.'
  }
  if (!at.objects || allowForcePush(rules)) return undefined
  if (!(await at.objects.rewinds(move.oldId, move.newId))) return undefined
  return 'You are not allowed to force push code to a protected branch on this project.'
}

function refusalOfTag(at: CheckedPush, move: RefMove, tag: string): string | undefined {
  const rules = rulesFor(at.tagRules, tag)
  if (rules.length > 0) return refusalOfProtectedTag(at, move, rules)
  const changes = !isCreation(move) && !isDeletion(move)
  if (changes && !at.mover.may('move_tag')) {
    return 'You are not allowed to change existing tags on this project.'
  }
  return undefined
}

function refusalOfProtectedTag(
  at: CheckedPush,
  move: RefMove,
  rules: readonly TagRule[],
): string | undefined {
  if (isDeletion(move)) {
    const mayDelete = at.push.via !== 'push' && at.mover.may('delete_protected_ref')
    return mayDelete ? undefined : 'Protected tags cannot be deleted.'
  }
  if (!isCreation(move)) return 'Protected tags cannot be updated.'
  if (mayCreateTag(rules, at.mover)) return undefined
  return 'You are not allowed to create this tag as it is protected.'
}
