import type { Ctx } from '../../../ctx.ts'
import type { PipelineStatus } from '../../../store/schema/commits.ts'
import type { ChangesOf } from '../../../store/schema.ts'
import { followJobs } from '../../environments/follow-jobs.ts'
import { bridgeJob, endedJob } from './task-names.ts'
import {
  deletePendingJobs,
  deleteRunningJobs,
  insertPendingJobs,
  type MovedJob,
  moveJobs,
} from './transition-queries.ts'

interface Transition {
  readonly from: readonly PipelineStatus[]
  readonly to: PipelineStatus
}

/**
 * Everything that can happen to a job (docs/contract/B-resolved §5.4). Nothing else writes the status of a job after it was made.
 */
const TRANSITIONS = {
  enqueue: {
    from: ['created', 'skipped', 'manual', 'scheduled', 'waiting_for_resource', 'preparing'],
    to: 'pending',
  },
  wait_for_resource: {
    from: ['created', 'skipped', 'manual', 'scheduled'],
    to: 'waiting_for_resource',
  },
  actionize: { from: ['created'], to: 'manual' },
  schedule: { from: ['created'], to: 'scheduled' },
  unschedule: { from: ['scheduled'], to: 'manual' },
  process: { from: ['skipped', 'manual'], to: 'created' },
  skip: { from: ['created', 'waiting_for_resource', 'preparing', 'pending'], to: 'skipped' },
  run: { from: ['pending'], to: 'running' },
  /** The runner that was given the job never said that it runs it. */
  return_to_queue: { from: ['running'], to: 'pending' },
  succeed: {
    from: ['created', 'waiting_for_resource', 'preparing', 'pending', 'running'],
    to: 'success',
  },
  drop: {
    from: [
      'created',
      'waiting_for_resource',
      'preparing',
      'pending',
      'running',
      'manual',
      'scheduled',
    ],
    to: 'failed',
  },
  cancel: {
    from: [
      'created',
      'waiting_for_resource',
      'preparing',
      'pending',
      'running',
      'manual',
      'scheduled',
    ],
    to: 'canceled',
  },
  /** The runner still runs `after_script`. */
  begin_cancel: { from: ['running'], to: 'canceling' },
  end_cancel: { from: ['canceling'], to: 'canceled' },
} as const satisfies Record<string, Transition>

export type JobEvent = keyof typeof TRANSITIONS

const ENDED: readonly PipelineStatus[] = ['success', 'failed', 'canceled']

/** Values beside the status that a change of it may bring. */
export type JobValues = Omit<ChangesOf<'ci_jobs'>, 'id' | 'status' | 'updated_at'>

/**
 * Moves jobs by one event, those of them that are in a state which it starts from, and does what follows for every
 * job: the queue of runners, the job token, the tasks behind an end. To be called in a transaction, and followed by
 * `processPipeline`. Gives the jobs that moved.
 */
export async function changeJobs(
  ctx: Ctx,
  event: JobEvent,
  ids: readonly number[],
  values: JobValues = {},
): Promise<readonly MovedJob[]> {
  if (ids.length === 0) return []
  const { from, to }: Transition = TRANSITIONS[event]
  const now = ctx.now()
  const change = { status: to, ...timesOf(to, now), ...values, updated_at: now }
  const moved = await moveJobs(ctx.db, ids, from, change)
  const movedIds = moved.map((job) => job.id)
  if (from.includes('pending')) await deletePendingJobs(ctx.db, movedIds)
  if (to === 'pending') await enqueueMoved(ctx, moved)
  if (to === 'pending' || ENDED.includes(to)) await deleteRunningJobs(ctx.db, movedIds)
  if (ENDED.includes(to)) await followEnds(ctx, moved)
  const deploying = moved.filter((job) => job.environment !== null).map((job) => job.id)
  if (deploying.length > 0) await followJobs(ctx, deploying)
  return moved
}

/** As `changeJobs`, for one job; whether it moved. */
export async function changeJob(
  ctx: Ctx,
  event: JobEvent,
  job: { readonly id: number },
  values: JobValues = {},
): Promise<boolean> {
  return (await changeJobs(ctx, event, [job.id], values)).length > 0
}

function timesOf(to: PipelineStatus, now: string): JobValues {
  if (to === 'pending') return { queued_at: now, scheduled_at: null, started_at: null }
  if (to === 'running') return { started_at: now }
  if (ENDED.includes(to)) return { finished_at: now, scheduled_at: null }
  return to === 'scheduled' ? {} : { scheduled_at: null }
}

async function enqueueMoved(ctx: Ctx, moved: readonly MovedJob[]): Promise<void> {
  const builds = moved.filter((job) => job.kind === 'build').map((job) => job.id)
  await insertPendingJobs(ctx.db, builds, ctx.now())
  for (const job of moved) {
    if (job.kind === 'bridge') await ctx.work.enqueue(ctx.db, bridgeJob, { job_id: job.id })
  }
}

/** What a runner left of a job is looked at, and its log put away, by a task. */
async function followEnds(ctx: Ctx, moved: readonly MovedJob[]): Promise<void> {
  for (const job of moved) {
    if (job.runner_id !== null) await ctx.work.enqueue(ctx.db, endedJob, { job_id: job.id })
  }
}
