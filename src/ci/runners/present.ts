import { z } from 'zod'
import { type Instant, later } from '../../base/clock.ts'
import type { Paged } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { userBasicEntity } from '../../identity/users/basic.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import {
  listBusyRunners,
  listManagersById,
  listRunnersById,
  type ManagerRow,
  newestManagers,
  type RunnerRow,
} from './queries.ts'

const ONLINE_MS = 2 * 3_600_000
/** So long after its last contact a runner is stale, and a machine of one is removed. */
export const STALE_MS = 7 * 86_400_000

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
  created_by: userBasicEntity.nullable(),
  created_at: z.string(),
  job_execution_status: z.enum(['active', 'idle']),
})

export type RunnerStatus = 'online' | 'offline' | 'stale' | 'never_contacted'

function runnerStatus(contactedAt: Instant | null, now: Instant): RunnerStatus {
  if (contactedAt === null) return 'never_contacted'
  if (contactedAt > later(now, -ONLINE_MS)) return 'online'
  return contactedAt <= later(now, -STALE_MS) ? 'stale' : 'offline'
}

/** A machine of a runner. */
export const managerEntity = z.strictObject({
  id: z.int(),
  system_id: z.string(),
  version: z.string().nullable(),
  revision: z.string().nullable(),
  platform: z.string().nullable(),
  architecture: z.string().nullable(),
  ip_address: z.string().nullable(),
  created_at: z.string(),
  contacted_at: z.string().nullable(),
  status: z.string(),
})

export function presentManager(row: ManagerRow, now: Instant): z.input<typeof managerEntity> {
  const { id, system_id, version, revision, platform, architecture } = row
  const { ip_address, created_at, contacted_at } = row
  return {
    id,
    system_id,
    version,
    revision,
    platform,
    architecture,
    ip_address,
    created_at,
    contacted_at,
    status: runnerStatus(contacted_at, now),
  }
}

/** The machines of these ids as jobs show them. */
export async function presentManagers(
  ctx: Pick<Ctx, 'db' | 'now'>,
  ids: readonly number[],
): Promise<ReadonlyMap<number, z.input<typeof managerEntity>>> {
  const rows = await listManagersById(ctx.db, ids)
  return new Map(rows.map((row) => [row.id, presentManager(row, ctx.now())]))
}

/** Runners in short, with who made them and whether they run a job. */
export async function presentRunnerRows(
  ctx: Ctx,
  rows: readonly RunnerRow[],
): Promise<z.input<typeof runnerEntity>[]> {
  const ids = rows.map((row) => row.id)
  const managers = await newestManagers(ctx.db, ids)
  const busy = await listBusyRunners(ctx.db, ids)
  const users = await usersById(
    ctx,
    rows.map((row) => row.creator_id),
  )
  return rows.map((row) => {
    const status = runnerStatus(row.contacted_at, ctx.now())
    const manager = managers.get(row.id)
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
      created_by: (row.creator_id === null ? undefined : users.get(row.creator_id)) ?? null,
      created_at: row.created_at,
      job_execution_status: busy.has(row.id) ? 'active' : 'idle',
    }
  })
}

/** One runner in short. */
export async function presentRunner(
  ctx: Ctx,
  row: RunnerRow,
): Promise<z.input<typeof runnerEntity>> {
  const [presented] = await presentRunnerRows(ctx, [row])
  if (!presented) throw new Error(`runner ${row.id} was not presented`)
  return presented
}

/** The runners of these ids as jobs show them. */
export async function presentRunners(
  ctx: Ctx,
  ids: readonly number[],
): Promise<ReadonlyMap<number, z.input<typeof runnerEntity>>> {
  const presented = await presentRunnerRows(ctx, await listRunnersById(ctx.db, ids))
  return new Map(presented.map((runner) => [runner.id, runner]))
}

/** A page of runners, presented. */
export async function presentPage(
  ctx: Ctx,
  page: Paged<RunnerRow>,
): Promise<Paged<z.input<typeof runnerEntity>>> {
  return { ...page, items: await presentRunnerRows(ctx, page.items) }
}
