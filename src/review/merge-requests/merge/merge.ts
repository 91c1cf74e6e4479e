import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import { conflict, methodNotAllowed, unauthorized, unprocessable } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { GitError } from '../../../git/error.ts'
import type { ObjectId } from '../../../git/types.ts'
import { callerId } from '../../../identity/users/find-user.ts'
import { MoveRefused, type MoveStep, moveRefs } from '../../../repositories/refs/move-refs.ts'
import { uniquely } from '../../../store/unique.ts'
import { branchHead, bringHead } from '../branch-heads.ts'
import { statusOf, targetSetting } from '../facts.ts'
import { reload } from '../find.ts'
import { squashOnMerge } from '../present.ts'
import { updateMergeRequest } from '../queries.ts'
import type { MergeRequestRow } from '../row.ts'
import type { MergeOptions } from './auto-merge.ts'
import { insertIntent } from './intent-queries.ts'
import { committerOf, signerOf } from './merge-facts.ts'
import {
  cannotBeMerged,
  isSingleCommit,
  type MergeObjects,
  type MergePlan,
  writeMergeObjects,
} from './merge-objects.ts'
import { presetMessages } from './preset-messages.ts'

// Another merge into the same branch was faster: the objects are made anew on top of it.
const attempts = 5

/**
 * Merges by the project's method (docs/contract/D §1.10 Merge). The commits are written first, then one move of the target branch
 * makes them count; the merged state and all that follows are written in the transaction that closes that move, now or,
 * after a crash, at the next start. That it may be merged is looked at once more in the transaction that says that it will be.
 */
export async function mergeNow(
  ctx: Ctx,
  project: Project,
  id: number,
  options: MergeOptions,
  atStep?: (step: MoveStep) => void,
): Promise<MergeRequestRow> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await mergeOnce(ctx, project, await reload(ctx, id), options, atStep)
      return await reload(ctx, id)
    } catch (error) {
      // The right to merge was asked before: what refuses now are rules about the commits.
      if (error instanceof MoveRefused)
        throw unprocessable(`Branch cannot be merged: ${error.reason}`)
      const overtaken = error instanceof GitError && error.code === 'stale'
      if (!overtaken || attempt === attempts) throw error
    }
  }
}

async function mergeOnce(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  options: MergeOptions,
  atStep?: (step: MoveStep) => void,
): Promise<void> {
  const userId = callerId(ctx)
  if (row.state !== 'opened') throw methodNotAllowed()
  const source = await bringHead(ctx, row)
  const target = await branchHead(ctx, row.target_project_id, row.target_branch)
  if (source === undefined || target === undefined) throw cannotBeMerged()
  assertHead(source, options.sha)
  const plan = await planOf(ctx, row, options, { source, target })
  const made = await writeMergeObjects(ctx.git.open(project.id), plan)
  const move = { name: `refs/heads/${row.target_branch}`, oldId: target, newId: made.newTarget }
  const record = (ctx: Ctx, pushId: number) =>
    recordIntent(ctx, row, pushId, { made, source, userId, options })
  await moveRefs(ctx, project, { via: 'merge', moves: [move], record }, atStep)
}

/** 409 when the source has moved since the caller looked. */
export function assertHead(head: ObjectId | null, sha: string | undefined): void {
  if (sha === undefined || sha === '' || sha === head) return
  throw conflict(`SHA does not match HEAD of source branch: ${head ?? ''}`)
}

/**
 * What people and pipelines say must be true of the very commits that are merged, when they are: while the objects were
 * made somebody may have pushed, taken an approval back or chosen another target. Whether the heads fit together, the
 * objects show.
 */
async function assertStillReady(
  ctx: Ctx,
  before: MergeRequestRow,
  source: ObjectId,
): Promise<void> {
  const now = await reload(ctx, before.id)
  if (now.state !== 'opened' || now.target_branch !== before.target_branch) throw methodNotAllowed()
  assertHead(now.head_sha, source)
  const status = await statusOf(ctx, { ...now, merge_status: 'can_be_merged', commits_behind: 0 })
  if (status !== 'mergeable') throw methodNotAllowed()
}

interface Intended {
  readonly made: MergeObjects
  readonly source: ObjectId
  readonly userId: number
  readonly options: MergeOptions
}

async function recordIntent(
  ctx: Ctx,
  row: MergeRequestRow,
  pushId: number,
  { made, source, userId, options }: Intended,
): Promise<void> {
  await assertStillReady(ctx, row, source)
  const chosen = options.removeSourceBranch
  await updateMergeRequest(ctx.db, row.id, { should_remove_source_branch: chosen })
  const remove = chosen ?? row.force_remove_source_branch === 1
  const busy = () => conflict('Resource lock: this merge request is being merged')
  await uniquely({ 'merge_intents.merge_request_id': busy }, () =>
    insertIntent(ctx.db, {
      push_id: pushId,
      merge_request_id: row.id,
      user_id: userId,
      head_sha: source,
      merge_commit_sha: made.mergeCommitSha,
      squash_commit_sha: made.squashCommitSha,
      merged_sha: made.newTarget,
      remove_source_branch: remove,
    }),
  )
}

async function planOf(
  ctx: Ctx,
  row: MergeRequestRow,
  options: MergeOptions,
  heads: { readonly source: ObjectId; readonly target: ObjectId },
): Promise<MergePlan> {
  const merger = await committerOf(ctx, userOf(ctx.actor)?.id ?? null)
  if (!merger) throw unauthorized()
  const preset = await presetMessages(ctx, row, heads, merger)
  const message = (given: string | undefined, preset: string) =>
    given !== undefined && given.trim() !== '' ? given : preset
  return {
    ...heads,
    method: targetSetting(row, 'merge_method'),
    squash: await willSquash(ctx, row, options, heads),
    merger: signerOf(ctx, merger),
    author: signerOf(ctx, preset.author ?? merger),
    mergeMessage: message(options.mergeMessage, preset.merge),
    squashMessage: message(options.squashMessage, preset.squash),
  }
}

/** A single commit is not squashed, unless somebody says what the squashed one shall say. */
async function willSquash(
  ctx: Ctx,
  row: MergeRequestRow,
  options: MergeOptions,
  heads: { readonly source: ObjectId; readonly target: ObjectId },
): Promise<boolean> {
  const option = targetSetting(row, 'squash_option')
  if (!squashOnMerge(option, options.squash ?? row.squash === 1)) return false
  if (options.squashMessage) return true
  return !(await isSingleCommit(ctx, row.target_project_id, heads.target, heads.source))
}
