import type { z } from 'zod'
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
  scope: oneOf([
    'active',
    'paused',
    'online',
    'offline',
    'stale',
    'never_contacted',
    'shared',
    'specific',
  ]).optional(),
}

type Scope = NonNullable<z.infer<typeof runnerQuery.scope>>

/** What the words of `scope`, which is older than the other filters, stand for. */
const SCOPES: Readonly<Record<Scope, Pick<RunnerFilter, 'types' | 'paused' | 'status'>>> = {
  active: { paused: false },
  paused: { paused: true },
  online: { status: 'online' },
  offline: { status: 'offline' },
  stale: { status: 'stale' },
  never_contacted: { status: 'never_contacted' },
  shared: { types: ['instance_type'] },
  specific: { types: ['group_type', 'project_type'] },
}

interface Asked {
  readonly type?: z.infer<typeof runnerQuery.type>
  readonly scope?: Scope | undefined
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
  const { type, tag_list: tagList, version_prefix: versionPrefix } = asked
  const scope = asked.scope === undefined ? {} : SCOPES[asked.scope]
  const now = {
    online: later(ctx.now(), -2 * 3_600_000),
    stale: later(ctx.now(), -7 * 86_400_000),
  }
  const filter = {
    types: type === undefined ? scope.types : [type],
    status: asked.status ?? scope.status,
    paused: asked.paused ?? scope.paused,
    tags: tagList,
    versionPrefix,
    now,
  }
  return await presentPage(ctx, await listRunners(ctx.db, place, filter, page))
}
