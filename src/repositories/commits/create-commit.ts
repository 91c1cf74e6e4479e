import type { Project } from '../../access/subjects.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { rememberCommitStats } from '../../git/diff/commit-stats.ts'
import { GitError } from '../../git/error.ts'
import { fetchObjects } from '../../git/transfer/fetch-objects.ts'
import { noObject } from '../../git/types.ts'
import { type WrittenCommit, writeCommit } from '../../git/write/write-commit.ts'
import { shareFetchedObjects } from '../lfs/objects.ts'
import { MoveRefused, moveRefs } from '../refs/move-refs.ts'
import { onBranch } from '../repository/branch-queue.ts'
import { signerOf } from '../repository/signer.ts'
import { leaveBytes } from '../size-limit/claims.ts'
import { claimRoom, refusalOfCommit } from '../size-limit/limit.ts'
import { asActionRefusal, assertUnchanged, type FileAction } from './file-actions.ts'
import { findStart, type Start } from './start-point.ts'

export interface NewCommit extends Start {
  readonly message: string
  readonly actions: readonly FileAction[]
  /** What the author is called, where it is not the caller; each part by itself. */
  readonly author?: { readonly name?: string | undefined; readonly email?: string | undefined }
  /** The refusal when a file's `last_commit_id` is out of date. */
  readonly changedText?: ((path: string) => string) | undefined
  /** Refuses a commit that changes nothing, with this text. */
  readonly unchangedText?: string | undefined
}

/**
 * Makes a commit of file actions and moves its branch there: all or nothing (docs/contract/B-resolved §2.2). When somebody else
 * moved the branch meanwhile it is made again on top of theirs.
 */
export function createCommit(ctx: Ctx, project: Project, input: NewCommit): Promise<WrittenCommit> {
  return onBranch(project, input.branch, () => tryCommit(ctx, project, input))
    .catch((error: unknown) => {
      throw asCommitRefusal(error)
    })
    .finally(() => leaveBytes(ctx.git.open(project.id), input))
}

async function tryCommit(ctx: Ctx, project: Project, input: NewCommit): Promise<WrittenCommit> {
  const { parentId, tipId, from } = await findStart(ctx, project, input)
  const repo = ctx.git.open(project.id)
  if (parentId !== undefined) {
    const changed = input.changedText ?? changedSince
    await assertUnchanged(from, parentId, input.actions, changed)
    await fetchObjects(repo, from, parentId)
    if (input.startProject)
      await shareFetchedObjects(ctx, input.startProject.id, project.id, parentId)
  }
  await assertRoom(ctx, project, input)
  const written = await writeCommit(repo, {
    parentIds: parentId === undefined ? [] : [parentId],
    actions: input.actions.map(({ lastCommitId: _, ...action }) => action),
    author: signerOf(ctx, input.author),
    committer: signerOf(ctx),
    message: input.message,
  })
  if (!written.changed && input.unchangedText !== undefined) throw invalidText(input.unchangedText)
  const move = {
    name: `refs/heads/${input.branch}`,
    oldId: tipId ?? noObject,
    newId: written.id,
  }
  await moveRefs(ctx, project, { via: 'api', moves: [move] })
  if (written.stats) rememberCommitStats(repo, written.id, written.stats)
  return written
}

/** Before anything is written: what is refused would take the room all the same. Contents count as they are sent. */
async function assertRoom(ctx: Ctx, project: Project, input: NewCommit): Promise<void> {
  const repo = ctx.git.open(project.id)
  leaveBytes(repo, input)
  const sizes = input.actions.map((action) =>
    'content' in action ? (action.content?.length ?? 0) : 0,
  )
  const bytes = sizes.reduce((sum, size) => sum + size, 0)
  const reason = await claimRoom(ctx, project, { holder: input, bytes }, refusalOfCommit)
  if (reason !== undefined) throw invalidText(reason)
}

function changedSince(path: string): string {
  return `The file has changed since you started editing it: ${path}`
}

function asCommitRefusal(error: unknown): unknown {
  if (error instanceof MoveRefused) return invalidText(error.reason)
  if (error instanceof GitError && error.code === 'conflict') {
    return invalidText(
      'Something went wrong when we tried to create the branch for you: another branch is in the way',
    )
  }
  return asActionRefusal(error)
}
