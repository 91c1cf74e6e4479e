import type { Project } from '../../access/subjects.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { type Imported, type ImportOptions, importRepository } from '../../git/transfer/import.ts'
import type { RemoteSource } from '../../git/transfer/remote.ts'
import { findRoom, type Room, refusalOfFetch } from './limit.ts'

/** Refuses what would make a repository larger than it may be. */
export function assertFits(room: Room | undefined, bytes: number): void {
  if (room && room.used + bytes > room.limit) throw invalidText(refusalOfFetch(room))
}

/** Fetches a repository from elsewhere for a project, as far as a push may be large and the project has room. */
export async function fetchWithinRoom(
  ctx: Ctx,
  project: Pick<Project, 'id' | 'settings'>,
  source: RemoteSource,
  options: Omit<ImportOptions, 'maxBytes'>,
): Promise<Imported> {
  const room = await findRoom(ctx, project, { now: true })
  const left = room && room.limit - room.used
  if (room && left !== undefined && left <= 0) throw invalidText(refusalOfFetch(room))
  const ofPushes = ctx.config.maxPush || undefined
  const maxBytes = Math.min(left ?? Number.POSITIVE_INFINITY, ofPushes ?? Number.POSITIVE_INFINITY)
  const limited = Number.isFinite(maxBytes) ? { ...options, maxBytes } : options
  try {
    return await importRepository(source, limited)
  } catch (error) {
    const isOver = error instanceof GitError && error.code === 'too_large' && maxBytes === left
    throw room && isOver ? invalidText(refusalOfFetch(room)) : error
  }
}
