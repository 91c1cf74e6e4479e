import { actAs } from '../../access/act-as.ts'
import { prepareEffects } from '../../base/effects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { isBranchName } from '../../git/names.ts'
import { readHead } from '../../git/refs/refs.ts'
import { type Repo, setHead } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import type { Via } from '../../store/schema/refs.ts'
import { inTransaction } from '../../store/transaction.ts'
import { findRowById, type WikiOrSnippetRow } from '../wikis-and-snippets/queries.ts'
import { claimBranch } from '../wikis-and-snippets/repository.ts'
import { enqueueWikiOrSnippetUpkeep } from '../wikis-and-snippets/tasks.ts'
import { closePush, findOpenPush, listMoves, markMoves } from './journal/queries.ts'
import { openPush } from './journal/record.ts'
import { branchOf, isDeletion, type Push, type RefMove, type Refusal } from './moves.ts'
import type { ObjectFacts } from './object-facts.ts'
import { isProhibited } from './prohibited-names.ts'
import type { RefUpdater } from './ref-updater.ts'

/** A wiki or snippet with its repository, as whoever moves its branch needs to know it. */
export interface WikiOrSnippet extends WikiOrSnippetRow {
  /** Why the caller may not write at all. */
  readonly refusal: string | undefined
  /** What is wrong with a commit as the new state of the branch, which came in this way. */
  check(objects: ObjectFacts, tip: ObjectId, via: Via): Promise<string | undefined>
}

/** Moves the one branch of a wiki or snippet, by what its kind allows on it. */
export function wikiOrSnippetUpdater(ctx: Ctx, target: WikiOrSnippet): RefUpdater {
  return {
    repo: ctx.git.open(target.name),
    check: (push, objects) => refusalsOf(target, push, objects),
    open: (push, process = null) => openWikiPush(ctx, target, push, process),
    finalize: (pushId, moved) => finalizeWikiPush(ctx, pushId, moved),
  }
}

async function refusalsOf(
  target: WikiOrSnippet,
  push: Push,
  objects: ObjectFacts | undefined,
): Promise<readonly Refusal[]> {
  const refusals: Refusal[] = []
  const [first] = push.moves
  for (const move of push.moves) {
    const reason =
      target.refusal ??
      refusalOfMove(target, move, move !== first) ??
      (objects && (await target.check(objects, move.newId, push.via)))
    if (reason !== undefined) refusals.push({ name: move.name, reason })
  }
  return refusals
}

const otherBranch = 'You can not create or delete branches.'

/** Wikis and snippets have one branch and no tags; the first push decides its name. */
function refusalOfMove(
  { defaultBranch }: WikiOrSnippet,
  move: RefMove,
  another: boolean,
): string | undefined {
  const branch = branchOf(move.name)
  if (branch === undefined) return 'You can not create or delete tags.'
  if (isDeletion(move) || another) return otherBranch
  if (defaultBranch !== null) return branch === defaultBranch ? undefined : otherBranch
  return isBranchName(branch) && !isProhibited(branch) ? undefined : otherBranch
}

async function openWikiPush(
  ctx: Ctx,
  target: WikiOrSnippet,
  push: Push,
  process: string | null,
): Promise<number> {
  const [move] = push.moves
  if (!move) throw new TypeError('a push without moves')
  return await inTransaction(ctx, async (ctx) => {
    const decided = await claimBranch(ctx, target.id, branchOf(move.name) ?? '')
    // Somebody else's first push was faster, with another branch.
    if (`refs/heads/${decided}` !== move.name) throw new Problem('conflict', 409, otherBranch)
    return await openPush(ctx, { repositoryId: target.id }, push, process)
  })
}

/**
 * Records whether the branch of a wiki or snippet moved and what follows from it. A push that is final already stays as it
 * is.
 */
export async function finalizeWikiPush(
  given: Ctx,
  pushId: number,
  moved: ReadonlySet<string>,
): Promise<void> {
  const push = await findOpenPush(given.db, pushId)
  const repository = push?.repository_id && (await findRowById(given.db, push.repository_id))
  if (!push || !repository) return
  const move = (await listMoves(given.db, pushId)).find(({ ref }) => moved.has(ref))
  const ctx = await actAs(given, push.user_id)
  const repo = ctx.git.open(repository.name)
  const kind = repository.name.kind === 'snippet' ? 'snippetMoved' : 'wikiMoved'
  const follow =
    move &&
    (await prepareEffects(ctx, ctx.effects[kind], {
      pushId,
      repo,
      repository,
      oldId: move.old_id,
      newId: move.new_id,
    }))
  // First: once the push is closed, nobody comes back to it after a crash.
  if (move) await pointHead(repo, move.ref)
  await inTransaction(ctx, async (ctx) => {
    if ((await closePush(ctx.db, pushId, ctx.now())) === undefined) return
    await markMoves(ctx.db, pushId, moved)
    if (!follow) return
    await follow(ctx, undefined)
    await enqueueWikiOrSnippetUpkeep(ctx, repository.id)
  })
}

async function pointHead(repo: Repo, ref: string): Promise<void> {
  if ((await readHead(repo)).ref !== ref) await setHead(repo, branchOf(ref) ?? '')
}
