import { z } from 'zod'
import { type Instant, later } from '../../base/clock.ts'
import type { Paged } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { listRunnersById, type ManagerRow, newestManagers, type RunnerRow } from './queries.ts'

const ONLINE_MS = 2 * 3_600_000
const STALE_MS = 7 * 86_400_000

/** A runner in short (docs/contract/D §1.23). */
export const runnerEntity = z.strictObject({
  id: z.int(),
  description: z.string().nullable(),
  ip_address: z.string().nullable(),
  active: z.boolean(),
  paused: z.boolean(),
  is_shared: z.boolean(),
  runner_type: z.string(),
  name: z.string().nullable(),
  online: z.boolean().nullable(),
  status: z.string(),
  created_at: z.string(),
})

export type RunnerStatus = 'online' | 'offline' | 'stale' | 'never_contacted'

function runnerStatus(contactedAt: Instant | null, now: Instant): RunnerStatus {
  if (contactedAt === null) return 'never_contacted'
  if (contactedAt > later(now, -ONLINE_MS)) return 'online'
  return contactedAt <= later(now, -STALE_MS) ? 'stale' : 'offline'
}

export function presentRunner(
  row: RunnerRow,
  manager: ManagerRow | undefined,
  now: Instant,
): z.input<typeof runnerEntity> {
  const status = runnerStatus(row.contacted_at, now)
  return {
    id: row.id,
    description: row.description,
    ip_address: manager?.ip_address ?? null,
    active: row.paused === 0,
    paused: row.paused === 1,
    is_shared: row.runner_type === 'instance_type',
    runner_type: row.runner_type,
    name: manager?.executor ?? null,
    online: row.contacted_at === null ? null : status === 'online',
    status,
    created_at: row.created_at,
  }
}

/** The runners of these ids as jobs show them. */
export async function presentRunners(
  ctx: Pick<Ctx, 'db' | 'now'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, z.input<typeof runnerEntity>>> {
  const rows = await listRunnersById(ctx.db, ids)
  const managers = await newestManagers(ctx.db, ids)
  return new Map(rows.map((row) => [row.id, presentRunner(row, managers.get(row.id), ctx.now())]))
}

/** A page of runners, presented. */
export async function presentPage(
  ctx: Pick<Ctx, 'db' | 'now'>,
  page: Paged<RunnerRow>,
): Promise<Paged<z.input<typeof runnerEntity>>> {
  const managers = await newestManagers(
    ctx.db,
    page.items.map((row) => row.id),
  )
  return {
    ...page,
    items: page.items.map((row) => presentRunner(row, managers.get(row.id), ctx.now())),
  }
}
