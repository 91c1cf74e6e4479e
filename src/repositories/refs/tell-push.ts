import { actAs } from '../../access/act-as.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { crossReferenceCommits } from '../../discussions/references/cross-reference.ts'
import { recordPushEvents } from '../../notifications/events/record-push.ts'
import { findHookProject } from '../../notifications/hooks/payload-parts.ts'
import { makePushHooks } from '../../notifications/hooks/push-hooks.ts'
import { closeByMessages } from '../../planning/issues/close-by-commit.ts'
import type { RefMove } from './moves.ts'
import { type RefNews, readNews } from './push-news.ts'
import { insertPushEffect } from './queries.ts'

interface ToldPush {
  readonly id: number
  readonly projectId: number
  readonly userId: number | null
  readonly options: readonly string[]
  readonly moves: readonly RefMove[]
}

/** Commits whose messages are read for issues that they close. */
const mostCommits = 100

/** Tells of a push in the transaction of the given ctx. */
export type Telling = (ctx: Ctx) => Promise<void>

/**
 * Reads from the repository what is to be told of a push: to the feed of the project, its hooks, and issues that commits
 * on the default branch close. Gives what writes it, once for each push, in a transaction of as many as there are.
 */
export async function prepareTelling(given: Ctx, push: ToldPush): Promise<Telling> {
  const ctx = await actAs(given, push.userId)
  const project = await findHookProject(ctx, push.projectId)
  if (!project) return async () => {}
  const news = await newsOf(ctx, project, push.moves)
  const fireAll = await makePushHooks(ctx, project, { ...push, news })
  const landed = news.filter((one) => one.kind === 'branch' && one.name === project.default_branch)
  return async ({ db }) => {
    const inner = { ...ctx, db }
    if (!(await insertPushEffect(db, push.id, 'told'))) return
    await recordPushEvents(inner, project, news, push.moves.length)
    await fireAll(inner)
    for (const one of landed) await closeByMessages(inner, project, one.commits)
    for (const { name: branch, commits } of news.filter((one) => one.kind === 'branch')) {
      const lands = branch === project.default_branch
      await crossReferenceCommits(inner, project, { branch, lands, commits })
    }
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
