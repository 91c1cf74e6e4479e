import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import { inTransaction } from '../../store/transaction.ts'
import { mayForceUnlock } from './access.ts'
import {
  deleteLfsLock,
  findForeignLock,
  findLfsLock,
  hasForeignLock,
  insertLfsLock,
  type LfsLockRow,
  listLfsLocks,
} from './queries.ts'

export interface LockView {
  readonly id: string
  readonly path: string
  readonly locked_at: string
  readonly owner: { readonly name: string }
}

export function presentLock(row: LfsLockRow): LockView {
  return {
    id: String(row.id),
    path: row.path,
    locked_at: row.created_at,
    owner: { name: row.username },
  }
}

function callerId(ctx: Pick<Ctx, 'actor'>): number {
  const user = userOf(ctx.actor)
  if (!user) throw new Problem('forbidden', 403, { message: 'Only users can hold locks.' })
  return user.id
}

/** A path of a file as git has it: relative, without empty or dotted steps. */
function isFilePath(path: string): boolean {
  if (path === '' || Buffer.byteLength(path) > 4096 || path.includes('\0')) return false
  return path.split('/').every((step) => step !== '' && step !== '.' && step !== '..')
}

/** Locks a file for the caller; one that is locked already is a 409 with the lock there is. */
export async function createLock(ctx: Ctx, project: Project, path: string): Promise<LockView> {
  const userId = callerId(ctx)
  if (!isFilePath(path)) {
    throw new Problem('unprocessable', 422, { message: 'The path of a file is needed.' })
  }
  return await inTransaction(ctx, async (inner) => {
    const known = await findLfsLock(inner.db, project.id, { path })
    if (known) {
      const lock = presentLock(known)
      throw new Problem('conflict', 409, { lock, message: 'already locked' })
    }
    const created_at = inner.now()
    await insertLfsLock(inner.db, { project_id: project.id, user_id: userId, path, created_at })
    const made = await findLfsLock(inner.db, project.id, { path })
    if (!made) throw new Error('a new lock is not there')
    return presentLock(made)
  })
}

export interface LockPage {
  readonly locks: readonly LfsLockRow[]
  readonly next_cursor?: string
}

const MOST_LOCKS = 100

/** A page of locks; the cursor is the id of the first one of the next page. */
export async function listLocks(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  asked: {
    readonly path?: string | undefined
    readonly id?: string | undefined
    readonly cursor?: string | undefined
    readonly limit?: number | undefined
  },
): Promise<LockPage> {
  const limit = Math.min(Math.max(asked.limit ?? MOST_LOCKS, 1), MOST_LOCKS)
  const rows = await listLfsLocks(ctx.db, project.id, {
    from: asked.cursor === undefined ? 0 : numberIn(asked.cursor),
    limit: limit + 1,
    path: asked.path,
    id: asked.id === undefined ? undefined : numberIn(asked.id),
  })
  const next = rows[limit]
  const locks = rows.slice(0, limit)
  return next ? { locks, next_cursor: String(next.id) } : { locks }
}

function numberIn(text: string): number {
  if (!/^\d{1,15}$/.test(text)) {
    throw new Problem('unprocessable', 422, { message: 'This is no lock.' })
  }
  return Number(text)
}

/** Takes a lock away: the caller's own, or by `force` somebody else's, for which one must be a Maintainer. */
export async function removeLock(
  ctx: Ctx,
  project: Project,
  asked: { readonly id: string; readonly force: boolean },
): Promise<LockView> {
  const userId = callerId(ctx)
  const id = numberIn(asked.id)
  return await inTransaction(ctx, async (inner) => {
    const row = await findLfsLock(inner.db, project.id, { id })
    if (!row) throw new Problem('not_found', 404, { message: 'Lock not found' })
    const mayForce = mayForceUnlock(ctx, project)
    if (row.user_id !== userId && !(asked.force && mayForce)) {
      const message = asked.force
        ? 'You must have maintainer access to force delete a lock'
        : `${row.path} is locked by ${row.username}`
      throw new Problem('forbidden', 403, { lock: presentLock(row), message })
    }
    await deleteLfsLock(inner.db, row.id)
    return presentLock(row)
  })
}

/** Whether a push of the caller's must be asked which files it changes. */
export function isAnyLocked(ctx: Ctx, project: Pick<Project, 'id'>): Promise<boolean> {
  const userId = userOf(ctx.actor)?.id ?? 0
  const key = `locks of others than ${userId} in ${project.id}`
  return cachedQuery(ctx.db, key, (db) => hasForeignLock(db, project.id, userId))
}

/** `'<path>' is locked in <ref> by <user>` for the first of the paths that is somebody else's (docs/contract/D §3.7). */
export async function refusalByLock(
  ctx: Ctx,
  project: Pick<Project, 'id'>,
  branch: string,
  paths: readonly string[],
): Promise<string | undefined> {
  const userId = userOf(ctx.actor)?.id ?? 0
  const lock = await findForeignLock(ctx.db, project.id, userId, paths)
  return lock && `'${lock.path}' is locked in ${branch} by ${lock.username}`
}
