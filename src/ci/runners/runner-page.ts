import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { csv, flag, oneOf, text } from '../../http/params.ts'
import { presentPage } from './present.ts'
import { listRunners, type RunnerFilter, type RunnerPlace } from './queries.ts'

/** What lists of runners are asked for. */
export const runnerQuery = {
  type: oneOf(['instance_type', 'group_type', 'project_type']).optional(),
  status: oneOf(['online', 'offline', 'stale', 'never_contacted']).optional(),
  paused: flag().optional(),
  tag_list: csv(text({ max: 255 })).default([]),
  version_prefix: text({ max: 64 }).optional(),
}

interface Asked {
  readonly type?: RunnerFilter['type']
  readonly status?: RunnerFilter['status']
  readonly paused?: boolean | undefined
  readonly tag_list: readonly string[]
  readonly version_prefix?: string | undefined
}

/** One page of the runners of a place. */
export async function runnerPage(
  ctx: Ctx,
  place: RunnerPlace,
  asked: Asked,
  page: Parameters<typeof listRunners>[3],
) {
  const { type, status, paused, tag_list: tagList, version_prefix: versionPrefix } = asked
  const now = {
    online: later(ctx.now(), -2 * 3_600_000),
    stale: later(ctx.now(), -7 * 86_400_000),
  }
  const filter = { type, status, paused, tags: tagList, versionPrefix, now }
  return await presentPage(ctx, await listRunners(ctx.db, place, filter, page))
}
