import { randomBytes } from 'node:crypto'
import { type ActorUser, actorUser, type UserActor, withoutToken } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import { inTransaction } from '../../store/transaction.ts'
import { mailUser } from '../mail/mail-user.ts'
import { noteSignIn } from '../users/note-sign-in.ts'
import { readCookie, setCookie } from './cookies.ts'
import {
  deleteSession,
  deleteSessionsBefore,
  deleteSessionsOfUser,
  findSessionByDigest,
  insertSession,
  listPlaces,
} from './queries.ts'

/** A browser's session that lives, with its user. */
export interface Session {
  readonly id: number
  readonly user: ActorUser
}

/** The session of the browser; undefined when it has none, when it is over, or when its user may not sign in any more. */
export async function findSession(
  ctx: Ctx,
  request: Pick<RequestFacts, 'headers'>,
): Promise<Session | undefined> {
  const secret = readCookie(ctx, request, 'session')
  if (secret === undefined) return undefined
  const row = await findSessionByDigest(ctx.db, digestOf(secret), ctx.now())
  return row?.state === 'active' ? { id: row.session_id, user: actorUser(row) } : undefined
}

/** The same ctx, acting as the session's user. */
export function actingAs(ctx: Ctx, session: Session): Ctx {
  return { ...ctx, actor: withoutToken(session.user) }
}

/** Mails people about a sign-in from an address that they have not used before, where administrators want that. */
async function warnOfPlace(ctx: Ctx, userId: number): Promise<void> {
  if (!ctx.settings.get('notify_on_unknown_sign_in') || ctx.ip === '') return
  const places = await listPlaces(ctx.db, userId)
  if (places.length === 0 || places.includes(ctx.ip)) return
  await mailUser(ctx, userId, {
    subject: 'You signed in from a new place',
    text: `Somebody signed in to your account from ${ctx.ip} at ${ctx.now()}. If that was not you, have an administrator of ${ctx.config.externalUrl} give you a new password: that ends all sessions.\n`,
    key: `sign-in-${Date.parse(ctx.now())}`,
  })
}

/** Signs a browser in; gives the headers of the answer. A new secret each time: nobody can plant one. */
export async function beginSession(ctx: Ctx, actor: UserActor): Promise<Record<string, string>> {
  const secret = randomBytes(32).toString('base64url')
  const now = ctx.now()
  const minutes = ctx.settings.get('session_expire_delay')
  await inTransaction({ ...ctx, actor }, async (inner) => {
    await warnOfPlace(inner, actor.user.id)
    await insertSession(inner.db, {
      user_id: actor.user.id,
      digest: digestOf(secret),
      ip: ctx.ip || null,
      expires_at: later(now, minutes * 60_000),
      created_at: now,
    })
    await noteSignIn(inner, actor.user.id)
    const entity = { type: 'User', id: actor.user.id } as const
    await audit(inner, { entity, action: 'signed_in' })
  })
  return { 'Set-Cookie': setCookie(ctx, 'session', secret) }
}

/** Signs a browser out. */
export async function endSession(ctx: Ctx, session: Session): Promise<Record<string, string>> {
  await deleteSession(ctx.db, session.id)
  return { 'Set-Cookie': setCookie(ctx, 'session') }
}

/** Signs a user out everywhere: after a new password. */
export async function endSessionsOf(
  ctx: Pick<Ctx, 'db'>,
  { userId }: { readonly userId: number },
): Promise<void> {
  await deleteSessionsOfUser(ctx.db, userId)
}

/** Forgets the sessions that are over. */
export async function removeOldSessions(ctx: Pick<Ctx, 'db' | 'now'>): Promise<void> {
  await deleteSessionsBefore(ctx.db, ctx.now())
}
