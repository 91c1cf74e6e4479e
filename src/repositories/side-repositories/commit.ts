import { invalidText } from '../../base/problem.ts'
import { KeyedSemaphore } from '../../base/semaphore.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { findRef } from '../../git/refs/refs.ts'
import type { Repo } from '../../git/repo.ts'
import { repositoryKey } from '../../git/repo-name.ts'
import { noObject, type ObjectId } from '../../git/types.ts'
import { type CommitAction, writeCommit } from '../../git/write/write-commit.ts'
import { asActionRefusal } from '../commits/file-actions.ts'
import { MoveRefused, moveThrough } from '../refs/move-refs.ts'
import { signerOf } from '../repository/signer.ts'
import { sideDoor } from './door.ts'
import { saveRename } from './move-queries.ts'
import { findSideRowById } from './queries.ts'
import type { Side } from './side.ts'

/** What an edit does to the state that it finds. */
export interface SidePlan {
  readonly message: string
  readonly actions: readonly CommitAction[]
  /** A file that keeps its identity under another path. */
  readonly renamed?: { readonly from: string; readonly to: string } | undefined
}

/** Where an edit begins; `tip` is missing before the first commit. */
export interface SideState {
  readonly repo: Repo
  readonly tip: ObjectId | undefined
}

const ATTEMPTS = 6

/** By repository. */
const oneByOne = new KeyedSemaphore({ limit: 1 })

/**
 * Edits a wiki or snippet: makes a commit and moves the branch there. When somebody else moved it meanwhile, the plan is
 * made again on top of theirs, so no edit is lost and none is made to a state that was not looked at.
 */
export function commitToSide(
  ctx: Ctx,
  side: Side,
  plan: (state: SideState) => Promise<SidePlan>,
): Promise<ObjectId | undefined> {
  return oneByOne.run(repositoryKey(side.name), async () => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await tryCommit(ctx, side, plan)
      } catch (error) {
        if (!isOvertaken(error) || attempt === ATTEMPTS) throw asRefusal(error)
      }
    }
  })
}

async function tryCommit(
  ctx: Ctx,
  given: Side,
  plan: (state: SideState) => Promise<SidePlan>,
): Promise<ObjectId | undefined> {
  const repo = ctx.git.open(given.name)
  const known = (await findSideRowById(ctx.db, given.id)) ?? given
  const side: Side = { ...given, defaultBranch: known.defaultBranch }
  const branch = side.defaultBranch ?? (ctx.settings.get('default_branch_name') || 'main')
  const name = `refs/heads/${branch}`
  const tip = (await findRef(repo, name))?.id
  const { message, actions, renamed } = await plan({ repo, tip })
  if (actions.length === 0) return tip
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
  const record =
    renamed && ((ctx: Ctx, id: number) => saveRename(ctx.db, id, renamed.from, renamed.to))
  await moveThrough(ctx, sideDoor(ctx, side), { via: 'api', moves: [move], record })
  return written.id
}

function isOvertaken(error: unknown): boolean {
  const codes: readonly string[] = ['stale', 'exists', 'locked']
  return error instanceof GitError && codes.includes(error.code) && 'ref' in error.detail
}

function asRefusal(error: unknown): unknown {
  return error instanceof MoveRefused ? invalidText(error.reason) : asActionRefusal(error)
}
