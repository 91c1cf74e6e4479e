import { actAs } from '../../access/act-as.ts'
import { prepareEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { readHead } from '../../git/refs/refs.ts'
import { type Repo, setHead } from '../../git/repo.ts'
import { inTransaction } from '../../store/transaction.ts'
import { branchOf } from '../refs/moves.ts'
import { closeMove, findOpenMove } from './move-queries.ts'
import { findSideRowById } from './queries.ts'
import { enqueueSideUpkeep } from './tasks.ts'

/** Writes down whether the branch moved and what follows from it. What is settled already stays as it is. */
export async function settleMove(given: Ctx, moveId: number, moved: boolean): Promise<void> {
  const row = await findOpenMove(given.db, moveId)
  const side = row && (await findSideRowById(given.db, row.repository_id))
  if (!side) return
  if (!moved) {
    await closeMove(given.db, moveId, 'refused', given.now())
    return
  }
  const ctx = await actAs(given, row.user_id)
  const repo = ctx.git.open(side.name)
  const kind = side.name.kind === 'snippet' ? 'snippetMoved' : 'wikiMoved'
  const follow = await prepareEffects(ctx, ctx.effects[kind], {
    repo,
    side,
    oldId: row.old_id,
    newId: row.new_id,
    renamed: row.from_path === null ? null : { from: row.from_path, to: row.to_path ?? '' },
  })
  await inTransaction(ctx, async (ctx) => {
    if (!(await closeMove(ctx.db, moveId, 'moved', ctx.now()))) return
    await follow(ctx, undefined)
    await enqueueSideUpkeep(ctx, side.id)
  })
  await pointHead(repo, branchOf(row.ref) ?? '')
}

async function pointHead(repo: Repo, branch: string): Promise<void> {
  if ((await readHead(repo)).ref !== `refs/heads/${branch}`) await setHead(repo, branch)
}
