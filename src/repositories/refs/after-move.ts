import { later } from '../../base/clock.ts'
import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { isBranchName } from '../../git/names.ts'
import { pointHead, recordActivity, recordFirstPush } from '../../projects/projects/pushed.ts'
import { findPushedProject, type PushedProject } from '../../projects/projects/pushed-queries.ts'
import { measureProject, measureProjectSize } from '../../projects/projects/tasks.ts'
import { preparePushed } from './follow-push.ts'
import { branchOf, type FinalizedPush, isDeletion, type RefMove } from './moves.ts'
import { enqueueUpkeep } from './upkeep.ts'

/**
 * What must be true in the database from the moment a push counts: called once for each push, in
 * the transaction that closes it. No git in here. Gives the default branch when it was decided now.
 */
export async function afterMove(
  ctx: Ctx,
  projectId: number,
  moves: readonly RefMove[],
): Promise<string | undefined> {
  const project = await findPushedProject(ctx.db, projectId)
  const branches = moves
    .filter((move) => !isDeletion(move))
    .flatMap((move) => branchOf(move.name) ?? [])
  if (project?.empty_repo !== 1 || branches.length === 0) return undefined
  const defaultBranch = firstDefaultBranch(project.default_branch, branches)
  await recordFirstPush(ctx, projectId, defaultBranch)
  if (defaultBranch === null) return undefined
  const decided = { projectId, namespaceId: project.namespace_id, name: defaultBranch }
  await runEffects(ctx, ctx.effects.defaultBranchDecided, decided)
  return defaultBranch
}

/** The branch that a project begins with: what it was set up for if that was pushed, else a usual name. */
function firstDefaultBranch(wanted: string | null, pushed: readonly string[]): string | null {
  const preferred = [wanted, 'main', 'master'].find(
    (name) => name !== null && pushed.includes(name),
  )
  return preferred ?? pushed.find(isBranchName) ?? wanted
}

/**
 * Everything else that follows from a push, in the order of the lists; each may run twice for the same push and must not
 * mind. Gives what is written once, in a transaction.
 */
export async function applyEffects(
  ctx: Ctx,
  project: PushedProject | undefined,
  push: FinalizedPush,
): Promise<(ctx: Ctx) => Promise<void>> {
  // A push may just have decided which branch that is.
  if (project?.default_branch && movesDefaultBranch(project, push)) {
    await pointHead(ctx, push.projectId)
  }
  await runEffects(ctx, ctx.effects.pushFinalized, push)
  return await preparePushed(ctx, push)
}

/** What follows once for all pushes to a project that came together, in the transaction that records them. */
export async function followUp(
  ctx: Ctx,
  projectId: number,
  project: PushedProject | undefined,
  pushes: readonly FinalizedPush[],
): Promise<void> {
  await recordActivity(ctx, projectId)
  await enqueueUpkeep(ctx, projectId)
  await measurePushed(ctx, projectId)
  if (pushes.some((push) => movesDefaultBranch(project, push))) {
    const payload = { project_id: projectId }
    await ctx.work.enqueue(ctx.db, measureProject, payload, { uniqueKey: String(projectId) })
  }
}

function movesDefaultBranch(project: PushedProject | undefined, push: FinalizedPush): boolean {
  const branch = project?.default_branch ?? undefined
  return push.moves.some((move) => branch === undefined || branchOf(move.name) === branch)
}

/** Pushes come in bursts, and measuring the size looks at every file of the repository. */
const sizeRestMs = 2000

async function measurePushed(ctx: Ctx, projectId: number): Promise<void> {
  const uniqueKey = String(projectId)
  const payload = { project_id: projectId }
  const runAt = later(ctx.now(), sizeRestMs)
  await ctx.work.enqueue(ctx.db, measureProjectSize, payload, { uniqueKey, runAt })
}
