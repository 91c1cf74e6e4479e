import { z } from 'zod'
import { findProjectWithRole } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import { type Instant, later } from '../../base/clock.ts'
import { invalidText, Problem } from '../../base/problem.ts'
import { redactText } from '../../base/redact.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import type { RejectedRef } from '../../git/transfer/push-refs.ts'
import type { ReadPush } from '../effects.ts'
import { pushMirror } from './push.ts'
import {
  findRemoteMirror,
  listEnabledMirrors,
  type RemoteMirrorRow,
  updateRemoteMirror,
} from './queries.ts'

const minute = 60_000
/** Pushes come in bursts: the other server gets at most one a minute, with all that there is by then. */
const restMs = minute
/** How long it waits, each time longer, when the other server could not be reached or did not want to. */
const retriesMs = [minute, 10 * minute, 60 * minute]

type Mirror = Pick<RemoteMirrorRow, 'id' | 'last_update_started_at'>

/** Enqueues a push to another server, once for all that ask for it meanwhile. */
export async function enqueuePush(ctx: Ctx, mirror: Mirror): Promise<void> {
  const last = mirror.last_update_started_at
  await enqueueAt(ctx, mirror.id, last === null ? ctx.now() : later(last, restMs))
}

async function enqueueAt(ctx: Ctx, id: number, runAt: Instant): Promise<void> {
  const payload = { mirror_id: id, attempt: 0 }
  await ctx.work.enqueue(ctx.db, pushToMirror, payload, { uniqueKey: String(id), runAt })
}

/** Pushes now, as somebody asks for it. */
export async function syncMirror(ctx: Ctx, mirror: RemoteMirrorRow): Promise<void> {
  if (mirror.enabled === 0) throw invalidText('The mirror is disabled')
  await enqueueAt(ctx, mirror.id, ctx.now())
}

/** What follows from every push: the servers that the project is pushed to get it. */
export async function pushToMirrors(given: Ctx, { project }: ReadPush) {
  const mirrors = await listEnabledMirrors(given.db, project.id)
  return async (ctx: Ctx) => {
    for (const { id } of mirrors) {
      const mirror = await findRemoteMirror(ctx.db, id)
      if (mirror?.enabled === 1) await enqueuePush(ctx, mirror)
    }
  }
}

/** By mirror: a second push at the same time would send the same once more. */
const running = new Set<number>()

export const pushToMirror = task({
  name: 'mirrors.push',
  payload: z.object({ mirror_id: z.int(), attempt: z.int() }),
  lane: 'mirroring',
  attempts: 3,
  timeout: 6 * 60 * minute,
  async handler(ctx: Ctx, { mirror_id: id, attempt }, signal) {
    const mirror = await findRemoteMirror(ctx.db, id)
    if (mirror?.enabled !== 1) return
    if (running.has(id)) return await enqueueAt(ctx, id, later(ctx.now(), restMs))
    running.add(id)
    try {
      await pushOnce(ctx, mirror, attempt, signal)
    } finally {
      running.delete(id)
    }
  },
  givenUp: (ctx: Ctx, { mirror_id: id }, reason) => saveEnd(ctx, id, 'failed', reason),
})

async function pushOnce(
  ctx: Ctx,
  mirror: RemoteMirrorRow,
  attempt: number,
  signal: AbortSignal,
): Promise<void> {
  const { id } = mirror
  const project = await findProjectWithRole(ctx, mirror.project_id)
  if (!project || project.archived) return
  const started = { update_status: 'started', last_update_started_at: ctx.now() } as const
  await updateRemoteMirror(ctx.db, id, started)
  try {
    const rejected = await pushMirror(ctx, project, mirror, signal)
    if (rejected.length === 0) await saveEnd(ctx, id, 'finished', null)
    else await saveEnd(ctx, id, 'failed', rejectionText(rejected))
  } catch (error) {
    // Whoever set it up reads what the other server did; a fault or an end of ours is for the queue, which tries again.
    if (signal.aborted || !(error instanceof GitError || error instanceof Problem)) throw error
    await retry(ctx, id, attempt, error.message)
  }
}

async function retry(ctx: Ctx, id: number, attempt: number, reason: string): Promise<void> {
  const pause = retriesMs[attempt]
  await saveEnd(ctx, id, pause === undefined ? 'failed' : 'to_retry', reason)
  if (pause === undefined) return
  const runAt = later(ctx.now(), pause)
  const payload = { mirror_id: id, attempt: attempt + 1 }
  await ctx.work.enqueue(ctx.db, pushToMirror, payload, { uniqueKey: `retry ${id}`, runAt })
}

async function saveEnd(
  ctx: Ctx,
  id: number,
  status: 'finished' | 'failed' | 'to_retry',
  error: string | null,
): Promise<void> {
  const now = ctx.now()
  await updateRemoteMirror(ctx.db, id, {
    update_status: status,
    last_update_at: now,
    last_error: error === null ? null : redactText(error).slice(0, 1000),
    ...(status === 'finished' ? { last_successful_update_at: now } : {}),
  })
}

/** Refs whose histories have parted, and those that the other server refused for a reason of its own. */
function rejectionText(rejected: readonly RejectedRef[]): string {
  const parted = new Set(['non-fast-forward', 'fetch first', 'already exists', 'needs force'])
  const diverged = rejected.filter(({ reason }) => parted.has(reason)).map(({ name }) => name)
  const refused = rejected
    .filter(({ reason }) => !parted.has(reason))
    .map(({ name, reason }) => `${name} (${reason})`)
  return [
    ...(diverged.length > 0
      ? ['Some refs have diverged and have not been updated on the remote:', ...diverged]
      : []),
    ...(refused.length > 0 ? ['Some refs were refused by the remote:', ...refused] : []),
  ].join('\n')
}
