import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx, Effect } from '../../ctx.ts'
import type { PushData } from '../../projects/effects.ts'
import type { ReadPush } from '../../repositories/effects.ts'
import type { RefNews } from '../../repositories/refs/push-news.ts'
import { recordEvent } from './record.ts'

const words = { created: 'pushed new', removed: 'deleted', pushed: 'pushed to' } as const

/**
 * A push in the feed: a line for each ref, or one for all beyond the limit that administrators set; in the caller's
 * transaction.
 */
export async function recordPushEvents(
  _ctx: Ctx,
  { project, push, news }: ReadPush,
): Promise<Effect<undefined>> {
  return (ctx) => recordNews(ctx, project, news, push.moves.length)
}

async function recordNews(
  ctx: Ctx,
  project: Pick<Project, 'id'>,
  news: readonly RefNews[],
  refs: number,
): Promise<void> {
  if (!userOf(ctx.actor)) return
  const many = refs > ctx.settings.get('push_event_activities_limit')
  for (const one of many ? news.slice(0, 1) : news) {
    const pushData = many ? bulkData(one, refs) : dataOf(one)
    await recordEvent(ctx, { projectId: project.id, action: words[one.action], pushData })
  }
}

function dataOf(one: RefNews): PushData {
  return {
    commit_count: one.total,
    action: one.action,
    ref_type: one.kind,
    commit_from: one.action === 'created' ? null : one.oldId,
    commit_to: one.action === 'removed' ? null : one.newId,
    ref: one.name,
    commit_title: one.commits[0]?.title.slice(0, 70) ?? null,
    ref_count: null,
  }
}

function bulkData(one: RefNews, refs: number): PushData {
  const nothing = { commit_from: null, commit_to: null, commit_title: null }
  return { ...dataOf(one), ...nothing, commit_count: 0, ref_count: refs }
}
