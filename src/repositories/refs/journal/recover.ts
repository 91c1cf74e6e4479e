import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { task } from '../../../background/task.ts'
import { later } from '../../../base/clock.ts'
import { isRunning } from '../../../base/process-mark.ts'
import type { Ctx } from '../../../ctx.ts'
import { readRefValues } from '../../../git/refs/refs.ts'
import type { RepoName } from '../../../git/repo-name.ts'
import { findRowById } from '../../wikis-and-snippets/queries.ts'
import { isDeletion } from '../moves.ts'
import { finalizeWikiPush } from '../wiki-updater.ts'
import { type JournalKey, listLaterMoves, listMoves, listOpenPushes } from './queries.ts'
import { finalizePush } from './record.ts'

// A git that outlived the server ends by itself within moments: its pipes are broken.
const orphanTimeoutMs = 5000
const forgottenAfterMs = 15 * 60_000

type OpenPush = Awaited<ReturnType<typeof listOpenPushes>>[number]

/**
 * Finalizes what a crash left open in projects, wikis and snippets: compares each recorded move with the refs. To be
 * called at the start, before anybody may push, for what was begun before it. Gives the number of pushes.
 */
export async function recoverPushes(ctx: Ctx, before = ctx.now()): Promise<number> {
  const pushes = await listOpenPushes(ctx.db, before)
  for (const push of pushes) {
    if (push.process !== null) await outlive(push.process)
  }
  for (const push of pushes) await recover(ctx, push)
  return pushes.length
}

/** Finalizes what is open for so long that whoever began it must have failed to. */
export async function recoverForgotten(ctx: Ctx): Promise<void> {
  for (const push of await listOpenPushes(ctx.db, later(ctx.now(), -forgottenAfterMs))) {
    const runs = push.process !== null && isRunning(push.process)
    if (!runs) await recover(ctx, push)
  }
}

async function recover(ctx: Ctx, push: OpenPush): Promise<void> {
  const { id, project_id: projectId, repository_id: repositoryId } = push
  let moved: ReadonlySet<string> = new Set()
  if (projectId !== null) {
    moved = await findMoved(ctx, projectId, { projectId }, id)
    await finalizePush(ctx, projectId, id, moved)
  } else if (repositoryId !== null) {
    const repository = await findRowById(ctx.db, repositoryId)
    if (repository) moved = await findMoved(ctx, repository.name, { repositoryId }, id)
    await finalizeWikiPush(ctx, id, moved)
  }
  ctx.log.warn('finalized a push that was interrupted', { push: id, moved: [...moved] })
}

async function findMoved(
  ctx: Ctx,
  name: RepoName,
  key: JournalKey,
  pushId: number,
): Promise<Set<string>> {
  const moved = new Set<string>()
  if (!(await ctx.git.exists(name))) return moved
  const moves = await listMoves(ctx.db, pushId)
  const names = moves.map((move) => move.ref)
  const values = await readRefValues(ctx.git.open(name), names)
  for (const move of moves) {
    const later = await listLaterMoves(ctx.db, key, move.ref, move.id)
    if (leadsTo(later, move.id, values.get(move.ref) ?? null)) moved.add(move.ref)
  }
  return moved
}

interface RecordedMove {
  readonly id: number
  readonly old_id: string
  readonly new_id: string
}

/**
 * Whether a move is part of how the ref came to its value: another push may have gone on from what
 * this one left behind. `later` are the moves from this one on, newest first.
 */
export function leadsTo(later: readonly RecordedMove[], id: number, value: string | null): boolean {
  let at = value
  for (const move of later) {
    const result = isDeletion({ newId: move.new_id }) ? null : move.new_id
    if (result !== at) continue
    if (move.id === id) return true
    at = /^0+$/.test(move.old_id) ? null : move.old_id
  }
  return false
}

/** Waits until a git process of an earlier run is gone, and ends it when it does not go. */
async function outlive(process: string): Promise<void> {
  const pid = Number(process.split(':')[0])
  for (let waited = 0; isRunning(process); waited += 50) {
    if (waited >= orphanTimeoutMs) signalGroup(pid)
    await sleep(50)
  }
}

function signalGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It went meanwhile.
  }
}

/** Finds pushes whose effects could not be written down at the time, such as on a full disk. */
export const recoverTask = task({
  name: 'refs.recover',
  payload: z.object({}),
  attempts: 1,
  handler: (ctx: Ctx) => recoverForgotten(ctx),
})
