import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import {
  conflict,
  forbidden,
  invalidText,
  methodNotAllowed,
  unauthorized,
} from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { GitError } from '../../../git/error.ts'
import {
  type Resolution,
  type Resolved,
  resolveConflicts,
  type Unresolved,
} from '../../../git/merge/resolve-conflicts.ts'
import { fetchObjects } from '../../../git/transfer/fetch-objects.ts'
import type { ObjectId } from '../../../git/types.ts'
import type { Signer } from '../../../git/write/signer.ts'
import { shareFetchedObjects } from '../../../repositories/lfs/objects.ts'
import { moveRefs } from '../../../repositories/refs/move-refs.ts'
import { onBranch } from '../../../repositories/repository/branch-queue.ts'
import { findPushableSource } from '../access.ts'
import { branchHead } from '../branch-heads.ts'
import { committerOf, signerOf } from '../merge/merge-facts.ts'
import type { MergeRequestRow } from '../row.ts'

export interface Decided {
  /** The commits that it was decided on. */
  readonly source: string
  readonly target: string
  readonly message: string | undefined
  readonly files: readonly {
    readonly path: string
    readonly content?: string | undefined
    readonly sections?: Readonly<Record<string, string>> | undefined
  }[]
}

const moved = () =>
  conflict('The source or the target branch has moved meanwhile. Look at the conflicts again.')

const reasons: Readonly<Record<Unresolved, string>> = {
  missing: 'is not resolved',
  sections: 'has sections without a side chosen',
  marks: 'still has conflict markers',
  not_here: 'cannot be resolved here; use git',
  no_conflict: 'has no conflict',
  path: 'has a name that cannot be written here; use git',
}

/**
 * Makes the merge commit of the target into the source branch with the given resolution, and moves the source branch to it:
 * 400 with the files that are not resolved, 409 when a branch is not where it was decided on.
 */
export async function mergeTargetIntoSource(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  decided: Decided,
  signal: AbortSignal,
): Promise<ObjectId> {
  if (row.state !== 'opened') throw methodNotAllowed()
  const source = await findPushableSource(ctx, project, row)
  if (!source) throw forbidden('Cannot push to source branch')
  const files = decided.files.map(readResolution)
  return onBranch(source, row.source_branch, async () => {
    const head = await branchHead(ctx, source.id, row.source_branch)
    const target = await branchHead(ctx, row.target_project_id, row.target_branch)
    if (!head || !target || head !== decided.source || target !== decided.target) throw moved()
    await bringTarget(ctx, row, source, target, signal)
    const author = await callerAsSigner(ctx)
    const message = messageOf(row, decided)
    const input = { ours: head, theirs: target, files, author, committer: author, message }
    const commitId = commitOf(await resolveConflicts(ctx.git.open(source.id), input, signal))
    const move = { name: `refs/heads/${row.source_branch}`, oldId: head, newId: commitId }
    await moveRefs(ctx, source, { via: 'api', moves: [move] }).catch((error: unknown) => {
      throw error instanceof GitError && error.code === 'stale' ? moved() : error
    })
    return commitId
  })
}

/** Brings the target's commits to where the source branch is. */
async function bringTarget(
  ctx: Ctx,
  row: MergeRequestRow,
  source: Project,
  target: ObjectId,
  signal: AbortSignal,
): Promise<void> {
  const { target_project_id: targetId } = row
  if (source.id === targetId) return
  const from = ctx.git.open(targetId)
  await fetchObjects(ctx.git.open(source.id), from, `refs/heads/${row.target_branch}`)
  await shareFetchedObjects(ctx, targetId, source.id, target, signal)
}

async function callerAsSigner(ctx: Ctx): Promise<Signer> {
  const user = userOf(ctx.actor)
  const person = user && (await committerOf(ctx, user.id))
  if (!person) throw unauthorized()
  return signerOf(ctx, person)
}

function readResolution({ path, content, sections = {} }: Decided['files'][number]): Resolution {
  if (content !== undefined) return { path, text: content }
  const chosen = Object.entries(sections).map(([id, side]) => {
    if (side !== 'ours' && side !== 'theirs') {
      throw invalidText(`${path}: a section takes ours or theirs`)
    }
    return [id, side] as const
  })
  return { path, sections: Object.fromEntries(chosen) }
}

/** As git words it. */
function messageOf(row: MergeRequestRow, { message, files }: Decided): string {
  if (message?.trim()) return message
  const named = files.map(({ path }) => `\t${path}\n`).join('')
  return `Merge branch '${row.target_branch}' into '${row.source_branch}'\n\nConflicts:\n${named}`
}

function commitOf(resolved: Resolved): ObjectId {
  if (resolved.outcome === 'clean') return resolved.commitId
  if (resolved.outcome === 'unresolved') {
    throw invalidText(resolved.files.map(({ path, reason }) => `${path} ${reasons[reason]}`))
  }
  if (resolved.outcome === 'none') throw invalidText('There is no conflict to resolve.')
  throw invalidText('These conflicts cannot be resolved here; use git.')
}
