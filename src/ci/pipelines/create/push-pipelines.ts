import { actAs } from '../../../access/act-as.ts'
import { findProjectById } from '../../../access/find-queries.ts'
import { type Project, withProjectRole } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { readCommit } from '../../../git/objects/commit.ts'
import { readFinalized } from '../../../repositories/refs/apply-effects.ts'
import { branchStates, tagProtection } from '../../../repositories/refs/branch-state.ts'
import {
  branchOf,
  type FinalizedPush,
  isCreation,
  isDeletion,
  type RefMove,
  tagOf,
} from '../../../repositories/refs/moves.ts'
import { claimEffect } from '../../../repositories/refs/pushed-task.ts'
import { ifFound } from '../../../repositories/repository/missing.ts'
import { mayRunOn, mayRunPipelines, refusedVariables } from '../access.ts'
import { createEventPipeline } from './event-pipeline.ts'
import type { PipelineRef } from './known-variables.ts'
import { asksToSkip, type PushOptions, readPushOptions } from './push-options.ts'

/** Refs of one push that get a pipeline (docs/contract/D §1.15). */
const MOST_REFS = 4

/**
 * Makes the pipelines of the branches and tags that pushes to one project left, in their order; done again it makes none
 * twice. A push that fails holds up none of the others.
 */
export async function pipelinesAfterPushes(
  given: Ctx,
  pushIds: readonly number[],
  signal?: AbortSignal,
): Promise<void> {
  const acting = new Map<number, Promise<Acting | undefined>>()
  const errors: unknown[] = []
  for (const push of await readFinalized(given, pushIds)) {
    signal?.throwIfAborted()
    if (push.userId === null) continue
    const actor = acting.get(push.userId) ?? actorOf(given, push.userId, push.projectId)
    acting.set(push.userId, actor)
    await pipelinesOf(await actor, push).catch((error: unknown) => errors.push(error))
  }
  if (errors.length > 0) throw errors[0]
}

interface Acting {
  readonly ctx: Ctx
  readonly project: Project
}

/** Who pushed, and the project as they see it; undefined when they may run no pipelines there. */
async function actorOf(given: Ctx, userId: number, projectId: number): Promise<Acting | undefined> {
  const ctx = await actAs(given, userId)
  const row = await findProjectById(given.db, projectId)
  if (!row || ctx.actor.kind !== 'user') return undefined
  const project = await withProjectRole(ctx, row)
  return mayRunPipelines(ctx, project) ? { ctx, project } : undefined
}

async function pipelinesOf(acting: Acting | undefined, push: FinalizedPush): Promise<void> {
  if (!acting) return
  const { ctx, project } = acting
  const options = readPushOptions(push.options)
  const moves = push.moves.filter((move) => !isDeletion(move) && nameOf(move) !== undefined)
  for (const move of moves.slice(0, MOST_REFS)) {
    const at = await refOf(ctx, project, move)
    if (at && (await mayRunOn(ctx, project, at))) {
      await pipelineOf(ctx, project, at, { pushId: push.id, move, options })
    }
  }
}

function nameOf(move: RefMove): string | undefined {
  return branchOf(move.name) ?? tagOf(move.name)
}

/** The ref as the push left it; undefined when its commit is gone, or it names no commit. */
async function refOf(ctx: Ctx, project: Project, move: RefMove): Promise<PipelineRef | undefined> {
  const ref = nameOf(move)
  const repo = ctx.git.open(project.id)
  const commit = await ifFound(readCommit(repo, move.newId))
  if (ref === undefined || !commit) return undefined
  const tag = tagOf(move.name) !== undefined
  const isProtected = tag
    ? (await tagProtection(ctx, project))(ref)
    : (await branchStates(ctx, project))(ref).protected
  const before = tag || isCreation(move) ? undefined : move.oldId
  return { ref, tag, protected: isProtected, commit, beforeSha: before, comparedTo: before }
}

async function pipelineOf(
  ctx: Ctx,
  project: Project,
  at: PipelineRef,
  push: { readonly pushId: number; readonly move: RefMove; readonly options: PushOptions },
): Promise<void> {
  await createEventPipeline(ctx, project, at, {
    ref: at.ref,
    source: 'push',
    variables: push.options.variables,
    refused: refusedVariables(project, push.options.variables),
    inputs: push.options.inputs,
    skipped: push.options.skip || asksToSkip(at.commit.message),
    claim: (ctx) => claimEffect(ctx, push.pushId, `pipeline of ${push.move.name}`),
    showsFaults: true,
  })
}
