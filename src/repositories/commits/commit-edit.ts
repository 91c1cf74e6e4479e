import { invalidText } from '../../base/problem.ts'
import { KeyedSemaphore } from '../../base/semaphore.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { findRef } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import { repositoryKey } from '../../git/repo-name.ts'
import { noObject, type ObjectId } from '../../git/types.ts'
import { type CommitAction, writeCommit } from '../../git/write/write-commit.ts'
import { MoveRefused, moveWith } from '../refs/move-refs.ts'
import type { Push } from '../refs/moves.ts'
import { type WikiOrSnippet, wikiOrSnippetUpdater } from '../refs/wiki-updater.ts'
import { retryWhenOvertaken } from '../repository/branch-queue.ts'
import { signerOf } from '../repository/signer.ts'
import { refusalOfSideEdit } from '../size-limit/side-rule.ts'
import { findRowById } from '../wikis-and-snippets/queries.ts'
import { asActionRefusal } from './file-actions.ts'

/** What an edit does to the state that it finds. */
export interface EditPlan {
  readonly message: string
  readonly actions: readonly CommitAction[]
  /** Writes what the edit means in the transaction that records its push. */
  readonly record?: Push['record']
}

/** Where an edit begins; `tip` is missing before the first commit. */
export interface EditBase {
  readonly repo: Repo
  readonly tip: ObjectId | undefined
}

/** By repository. */
const oneByOne = new KeyedSemaphore({ limit: 1 })

/**
 * Edits a wiki or snippet: makes a commit and moves the branch there. When somebody else moved it meanwhile, the plan is
 * made again on top of theirs, so no edit is lost and none is made to a state that was not looked at.
 */
export function commitEdit(
  ctx: Ctx,
  target: WikiOrSnippet,
  plan: (state: EditBase) => Promise<EditPlan>,
): Promise<ObjectId | undefined> {
  const commit = () => retryWhenOvertaken(() => tryCommit(ctx, target, plan), isOvertaken)
  return oneByOne.run(repositoryKey(target.name), commit).catch((error: unknown) => {
    throw error instanceof MoveRefused ? invalidText(error.reason) : asActionRefusal(error)
  })
}

async function tryCommit(
  ctx: Ctx,
  given: WikiOrSnippet,
  plan: (state: EditBase) => Promise<EditPlan>,
): Promise<ObjectId | undefined> {
  const repo = ctx.git.open(given.name)
  const known = (await findRowById(ctx.db, given.id)) ?? given
  const target: WikiOrSnippet = { ...given, defaultBranch: known.defaultBranch }
  const branch = target.defaultBranch ?? (ctx.settings.get('default_branch_name') || 'main')
  const name = `refs/heads/${branch}`
  const tip = (await findRef(repo, name))?.id
  const { message, actions, record } = await plan({ repo, tip })
  if (actions.length === 0) return tip
  const refusal = await refusalOfSideEdit(ctx, target.name, bytesOf(actions))
  if (refusal !== undefined) throw invalidText(refusal)
  const signer = signerOf(ctx)
  const written = await writeCommit(repo, {
    parentIds: tip === undefined ? [] : [tip],
    actions,
    author: signer,
    committer: signer,
    message,
  })
  if (!written.changed && tip !== undefined) return tip
  const move = { name, oldId: tip ?? noObject, newId: written.id }
  await moveWith(ctx, wikiOrSnippetUpdater(ctx, target), { via: 'api', moves: [move], record })
  return written.id
}

function bytesOf(actions: readonly CommitAction[]): number {
  const sizes = actions.map((action) => ('content' in action ? (action.content?.length ?? 0) : 0))
  return sizes.reduce((sum, size) => sum + size, 0)
}

function isOvertaken(error: unknown): boolean {
  const codes: readonly string[] = ['stale', 'exists', 'locked']
  return error instanceof GitError && codes.includes(error.code) && 'ref' in error.detail
}
