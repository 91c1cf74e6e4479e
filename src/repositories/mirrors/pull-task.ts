import { z } from 'zod'
import { findProjectWithRole } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import { type Instant, later } from '../../base/clock.ts'
import { Problem } from '../../base/problem.ts'
import { redactText } from '../../base/redact.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { projectSetting } from '../../projects/projects/settings.ts'
import { pullMirror } from './pull.ts'
import { findPullMirror, listDueMirrors, updatePullMirror } from './pull-queries.ts'

const minute = 60_000
/** How often the other servers are asked. */
const restMs = 30 * minute
/** Tries in a row that fail before nobody is asked any more; whoever pulls by hand begins anew. */
const mostFailures = 14
/** Projects that are enqueued at once, so that the table of tasks holds no more than are pulled soon. */
const atOnce = 100

/** Enqueues a look at the repository that a project follows. */
export async function enqueuePull(ctx: Ctx, projectId: number, runAt?: Instant): Promise<void> {
  const payload = { project_id: projectId }
  await ctx.work.enqueue(ctx.db, pullFromMirror, payload, { uniqueKey: String(projectId), runAt })
}

export const pullDueMirrors = task({
  name: 'mirrors.pull_due',
  payload: z.object({}),
  async handler(ctx: Ctx) {
    const due = await listDueMirrors(ctx.db, later(ctx.now(), -restMs), mostFailures, atOnce)
    for (const projectId of due) await enqueuePull(ctx, projectId)
  },
})

/** By project: a second pull at the same time would fetch the same once more. */
const running = new Set<number>()

export const pullFromMirror = task({
  name: 'mirrors.pull',
  payload: z.object({ project_id: z.int() }),
  lane: 'mirroring',
  attempts: 3,
  timeout: 6 * 60 * minute,
  async handler(ctx: Ctx, { project_id: id }, signal) {
    // What runs may have looked before the change that somebody reports.
    if (running.has(id)) return await enqueuePull(ctx, id, later(ctx.now(), minute))
    running.add(id)
    try {
      await pullOnce(ctx, id, signal)
    } finally {
      running.delete(id)
    }
  },
  async givenUp(ctx: Ctx, { project_id: id }, reason) {
    await saveFailure(ctx, id, reason)
  },
})

async function pullOnce(ctx: Ctx, id: number, signal: AbortSignal): Promise<void> {
  const project = await findProjectWithRole(ctx, id)
  const mirror = await findPullMirror(ctx.db, id)
  if (!project || project.archived || !mirror || !projectSetting(project, 'mirror')) return
  const started = { update_status: 'started', last_update_started_at: ctx.now() } as const
  await updatePullMirror(ctx.db, id, started)
  try {
    await pullMirror(ctx, id, mirror, signal)
    const now = ctx.now()
    await updatePullMirror(ctx.db, id, {
      update_status: 'finished',
      failures: 0,
      last_error: null,
      last_update_at: now,
      last_successful_update_at: now,
    })
  } catch (error) {
    // Whoever set it up reads what the other server did; a fault or an end of ours is for the queue, which tries again.
    if (signal.aborted || !(error instanceof GitError || error instanceof Problem)) throw error
    await saveFailure(ctx, id, error.message)
  }
}

async function saveFailure(ctx: Ctx, id: number, reason: string): Promise<void> {
  const mirror = await findPullMirror(ctx.db, id)
  if (!mirror) return
  await updatePullMirror(ctx.db, id, {
    update_status: 'failed',
    failures: mirror.failures + 1,
    last_error: redactText(reason).slice(0, 1000),
    last_update_at: ctx.now(),
  })
}
