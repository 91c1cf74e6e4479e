import { mayInProject } from '../../access/decide.ts'
import { Role } from '../../access/roles.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { readOwnedFiles } from '../../review/approvals/code-owner-rules.ts'
import type { OwnedFiles } from '../../review/approvals/code-owners.ts'
import { isAnyLocked, refusalByLock } from '../lfs/locks.ts'
import { findMissing, isLfsOn } from '../lfs/objects.ts'
import { getPushRule, refusalByPushRule } from '../push-rules/check.ts'
import { defaultProtection } from './default-protection.ts'
import { getMover } from './mover.ts'
import {
  branchOf,
  isCreation,
  isDeletion,
  type Push,
  type RefMove,
  type Refusal,
  tagOf,
} from './moves.ts'
import type { ObjectFacts } from './object-facts.ts'
import {
  allowForcePush,
  type BranchRule,
  DefaultProtection,
  type Mover,
  mayCreateTag,
  mayMergeInto,
  mayPushTo,
  rulesFor,
  type TagRule,
} from './protection.ts'
import { listBranchRules, listTagRules } from './queries.ts'

interface Checkpoint {
  readonly project: Project
  readonly push: Push
  readonly mover: Mover
  readonly branchRules: readonly BranchRule[]
  readonly tagRules: readonly TagRule[]
  readonly pushRule: Awaited<ReturnType<typeof getPushRule>>
  readonly defaultProtection: number
  readonly objects: ObjectFacts | undefined
}

/**
 * Every rule on moving branches and tags of a project (spec D §3.7), for pushes and for the API
 * alike. Without `objects` the rules that need to look at new commits are left for a second call,
 * which git's quarantine makes possible. One refusal refuses the whole push.
 */
export async function gate(
  ctx: Ctx,
  project: Project,
  push: Push,
  objects: ObjectFacts | undefined,
): Promise<readonly Refusal[]> {
  if (push.via === 'system') return []
  const general = refusalOfProject(ctx, project)
  if (general) return push.moves.map(({ name }) => ({ name, reason: general }))
  const [branchRules, tagRules] = await Promise.all([
    listBranchRules(ctx.db, project.id, project.namespace_id),
    listTagRules(ctx.db, project.id),
  ])
  const checkpoint: Checkpoint = {
    project,
    push,
    mover: await getMover(ctx, project, branchRules, tagRules),
    branchRules,
    tagRules,
    pushRule: await getPushRule(ctx, project.id),
    defaultProtection: project.empty_repo
      ? await defaultProtection(ctx, project.namespace_id)
      : DefaultProtection.none,
    objects,
  }
  const refusals: Refusal[] = []
  for (const move of push.moves) {
    const reason =
      (await refusalOfMove(checkpoint, move)) ??
      (await refusalByOwners(ctx, checkpoint, move)) ??
      (await refusalByRule(ctx, checkpoint, move))
    if (reason !== undefined) refusals.push({ name: move.name, reason })
  }
  return refusals.length > 0 ? refusals : await refusalsByLargeFiles(ctx, checkpoint)
}

/** Large files that are missing, or that somebody else has locked (spec D §3.7, §3.8). */
async function refusalsByLargeFiles(ctx: Ctx, at: Checkpoint): Promise<readonly Refusal[]> {
  const { project, objects, push } = at
  if (!objects || !isLfsOn(project)) return []
  const missing = await findMissing(ctx, project, await objects.newPointers())
  if (missing) {
    const reason =
      'LFS objects are missing. Ensure LFS is properly set up or try a manual "git lfs push --all".'
    return push.moves.map(({ name }) => ({ name, reason }))
  }
  if (!(await isAnyLocked(ctx, project))) return []
  const refusals: Refusal[] = []
  for (const move of push.moves) {
    const branch = branchOf(move.name)
    if (branch === undefined || isDeletion(move)) continue
    const paths = await objects.changedPaths(move.newId)
    const reason = await refusalByLock(ctx, project, branch, paths)
    if (reason !== undefined) refusals.push({ name: move.name, reason })
  }
  return refusals
}

/** Files with owners change by merge requests only, where a rule of the branch says so (spec B-resolved §7). */
async function refusalByOwners(
  ctx: Ctx,
  { project, push, branchRules, objects }: Checkpoint,
  move: RefMove,
): Promise<string | undefined> {
  const branch = branchOf(move.name)
  if (push.via === 'merge' || branch === undefined || !objects) return undefined
  if (isCreation(move) || isDeletion(move)) return undefined
  if (!rulesFor(branchRules, branch).some((rule) => rule.codeOwners)) return undefined
  const paths = await objects.differingPaths(move.oldId, move.newId)
  const owned = await readOwnedFiles(ctx, project.id, move.oldId, paths)
  const patterns = owned.filter(({ entry }) => entry.owners.length > 0)
  return patterns.length === 0 ? undefined : ownedFilesText(patterns)
}

function ownedFilesText(owned: readonly OwnedFiles[]): string {
  const patterns = [...new Set(owned.map(({ entry }) => entry.pattern))]
  return [
    'Pushes to protected branches that contain changes to files that',
    'match patterns defined in `CODEOWNERS` are disabled for',
    'this project. Please submit these changes via a merge request.',
    '',
    'The following pattern(s) from `CODEOWNERS` were matched:',
    ...patterns.map((pattern) => `- ${pattern}`),
  ].join('\n')
}

/** What the project's push rule says, once everything else allows the move. */
async function refusalByRule(ctx: Ctx, at: Checkpoint, move: RefMove): Promise<string | undefined> {
  const { pushRule, objects } = at
  const branch = branchOf(move.name)
  if (!pushRule || (branch === undefined && tagOf(move.name) === undefined)) return undefined
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

/** Whether the caller may push to a branch, or to a new one of this name (`can_push` on the wire). */
export async function mayPushBranch(ctx: Ctx, project: Project, branch: string): Promise<boolean> {
  const move = { name: `refs/heads/${branch}`, oldId: '1'.repeat(40), newId: '2'.repeat(40) }
  return (await gate(ctx, project, { via: 'api', moves: [move] }, undefined)).length === 0
}

/** Whether the caller may merge into a branch (`can_merge` on the wire). */
export async function mayMergeBranch(ctx: Ctx, project: Project, branch: string): Promise<boolean> {
  const move = { name: `refs/heads/${branch}`, oldId: '1'.repeat(40), newId: '2'.repeat(40) }
  return (await gate(ctx, project, { via: 'merge', moves: [move] }, undefined)).length === 0
}

function refusalOfProject(ctx: Ctx, project: Project): string | undefined {
  if (project.archived) return "You can't push code to an archived project."
  if (mayInProject(ctx.actor, project, 'push_code')) return undefined
  return 'You are not allowed to push code to this project.'
}

async function refusalOfMove(at: Checkpoint, move: RefMove): Promise<string | undefined> {
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

/** Names that would be read as something else: a whole object id, a full ref name (spec D §3.7). */
export function isProhibited(name: string): boolean {
  return /^[0-9a-f]{40}$|^[0-9a-f]{64}$/i.test(name) || name.startsWith('refs/')
}

async function refusalOfBranch(
  at: Checkpoint,
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
function refusalOfFirstPush(at: Checkpoint): string | undefined {
  if (!at.project.empty_repo) return undefined
  const open: readonly number[] = [
    DefaultProtection.none,
    DefaultProtection.developersPush,
    DefaultProtection.developersStart,
  ]
  if (open.includes(at.defaultProtection) || at.mover.role >= Role.maintainer) return undefined
  return 'You are not allowed to push code to protected branches on this project.'
}

function refusalOfDeletion(at: Checkpoint): string | undefined {
  if (at.push.via === 'push') {
    return 'You can only delete protected branches using the web interface or the API.'
  }
  if (at.mover.role >= Role.maintainer) return undefined
  return 'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.'
}

async function refusalOfCreation(
  at: Checkpoint,
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
  const settled = holders.some((name) => rulesFor(at.branchRules, name).length > 0)
  if (settled) return undefined
  return 'You can only use an existing protected branch ref as the basis of a new protected branch.'
}

async function refusalOfUpdate(
  at: Checkpoint,
  move: RefMove,
  rules: readonly BranchRule[],
): Promise<string | undefined> {
  // Who may push may merge too (spec D §1.10 Merge).
  const mayMerge = at.push.via === 'merge' && mayMergeInto(rules, at.mover)
  if (!mayMerge && !mayPushTo(rules, at.mover)) {
    return 'You are not allowed to push code to protected branches on this project.'
  }
  if (!at.objects || allowForcePush(rules)) return undefined
  if (!(await at.objects.rewinds(move.oldId, move.newId))) return undefined
  return 'You are not allowed to force push code to a protected branch on this project.'
}

function refusalOfTag(at: Checkpoint, move: RefMove, tag: string): string | undefined {
  const rules = rulesFor(at.tagRules, tag)
  if (rules.length > 0) return refusalOfProtectedTag(at, move, rules)
  const changes = !isCreation(move) && !isDeletion(move)
  if (changes && at.mover.role < Role.maintainer) {
    return 'You are not allowed to change existing tags on this project.'
  }
  return undefined
}

function refusalOfProtectedTag(
  at: Checkpoint,
  move: RefMove,
  rules: readonly TagRule[],
): string | undefined {
  if (isDeletion(move)) {
    const mayDelete = at.push.via !== 'push' && at.mover.role >= Role.maintainer
    return mayDelete ? undefined : 'Protected tags cannot be deleted.'
  }
  if (!isCreation(move)) return 'Protected tags cannot be updated.'
  if (mayCreateTag(rules, at.mover)) return undefined
  return 'You are not allowed to create this tag as it is protected.'
}
