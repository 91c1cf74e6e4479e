import { z } from 'zod'
import { task } from '../../background/task.ts'
import type { Ctx } from '../../ctx.ts'
import { readRefValues } from '../../git/refs/ref-values.ts'
import { forgottenBefore, leadsTo, outlive, stillRuns } from '../refs/recover.ts'
import { listLaterMoves, listOpenMoves } from './move-queries.ts'
import { findSideRowById } from './queries.ts'
import { settleMove } from './settle.ts'

interface OpenMove {
  readonly id: number
  readonly repository_id: number
  readonly ref: string
}

/** Settles what a crash left open in wikis and snippets, at the start, before anybody may push. */
export async function recoverSideMoves(ctx: Ctx, before = ctx.now()): Promise<number> {
  const moves = await listOpenMoves(ctx.db, before)
  for (const move of moves) {
    if (move.process !== null) await outlive(move.process)
  }
  for (const move of moves) await recover(ctx, move)
  return moves.length
}

async function recover(ctx: Ctx, move: OpenMove): Promise<void> {
  const moved = await hasMoved(ctx, move)
  await settleMove(ctx, move.id, moved)
  ctx.log.warn('settled an interrupted push to a wiki or snippet', { move: move.id, moved })
}

async function hasMoved(ctx: Ctx, move: OpenMove): Promise<boolean> {
  const side = await findSideRowById(ctx.db, move.repository_id)
  if (!side || !(await ctx.git.exists(side.name))) return false
  const values = await readRefValues(ctx.git.open(side.name), [move.ref])
  const later = await listLaterMoves(ctx.db, move.repository_id, move.id)
  return leadsTo(later, move.id, values.get(move.ref) ?? null)
}

/** Finds moves whose effects could not be written down at the time, such as on a full disk. */
export const recoverSides = task({
  name: 'side_repositories.recover',
  payload: z.object({}),
  attempts: 1,
  async handler(ctx: Ctx) {
    for (const move of await listOpenMoves(ctx.db, forgottenBefore(ctx))) {
      if (!stillRuns(move.process)) await recover(ctx, move)
    }
  },
})
