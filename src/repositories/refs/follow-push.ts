import { actAs } from '../../access/act-as.ts'
import { findProjectWithRole, type Project } from '../../access/subjects.ts'
import { prepareEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import { insertPushEffect } from './journal/queries.ts'
import type { FinalizedPush, RefMove } from './moves.ts'
import { type RefNews, readNews } from './push-news.ts'

/** Commits whose messages are read for issues that they close. */
const mostCommits = 100

/**
 * Reads from the repository what those who follow a push want to know. Gives what writes it, once for each push, in a
 * transaction of as many as there are.
 */
export async function preparePushed(
  given: Ctx,
  push: FinalizedPush,
): Promise<(ctx: Ctx) => Promise<void>> {
  const ctx = await actAs(given, push.userId)
  const project = await findProjectWithRole(ctx, push.projectId)
  if (!project) return async () => {}
  const news = await newsOf(ctx, project, push.moves)
  const follow = await prepareEffects(ctx, ctx.effects.pushFollowed, { project, push, news })
  return async ({ db }) => {
    if (await insertPushEffect(db, push.id, 'followed')) await follow({ ...ctx, db }, undefined)
  }
}

/** News of each ref, as long as a person could still care about each of them. */
async function newsOf(ctx: Ctx, project: Project, moves: readonly RefMove[]): Promise<RefNews[]> {
  const limit = Math.max(
    ctx.settings.get('push_event_activities_limit'),
    ctx.settings.get('push_event_hooks_limit'),
    1,
  )
  const found: RefNews[] = []
  for (const move of moves.slice(0, limit + 1)) {
    const one = await readNews(ctx, project, move, mostCommits)
    if (one) found.push(one)
  }
  return found
}
