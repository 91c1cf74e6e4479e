import { audit } from '../../access/audit.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { callerId } from '../users/find-user.ts'
import { deleteOtherSessions, deleteSessionOf, type SessionItem } from './queries.ts'

/** The session by which the caller asks, if they ask by a browser. */
function ownSession({ actor }: Pick<Ctx, 'actor'>): number | undefined {
  return actor.kind === 'user' ? actor.session?.id : undefined
}

/** A session as lists show it. */
export function presentSession(ctx: Pick<Ctx, 'actor'>, row: SessionItem) {
  return { ...row, current: row.id === ownSession(ctx) }
}

/** Signs the caller out of another browser. */
export async function endOwnSession(ctx: Ctx, id: number): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    if (!(await deleteSessionOf(inner.db, callerId(inner), id))) throw notFound('Session')
    await noteEnd(inner)
  })
}

/** Signs the caller out of every browser but this one. */
export async function endOtherSessions(ctx: Ctx): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await deleteOtherSessions(inner.db, callerId(inner), ownSession(ctx) ?? 0)
    await noteEnd(inner)
  })
}

async function noteEnd(ctx: Ctx): Promise<void> {
  await audit(ctx, { entity: { type: 'User', id: callerId(ctx) }, action: 'session_revoked' })
}
