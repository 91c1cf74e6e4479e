import { randomBytes } from 'node:crypto'
import { type ActorUser, actorUser, type UserActor } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import { findSessionByDigest } from '../../access/authentication/sign-in-queries.ts'
import { digestOf } from '../../access/token-use.ts'
import { later } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { readCookie, setCookie } from '../../http/credentials/cookies.ts'
import type { RequestFacts } from '../../http/endpoint.ts'
import type { NewRowOf } from '../../store/schema.ts'
import { inTransaction } from '../../store/transaction.ts'
import { mailUser } from '../mail/mail-user.ts'
import { noteSignIn } from '../users/note-sign-in.ts'
import {
  deleteSession,
  deleteSessionsBefore,
  deleteSessionsOfUser,
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
  const row = await findRow(ctx, request)
  return row && !row.waits_for ? { id: row.session_id, user: actorUser(row) } : undefined
}

/** A sign-in of this browser that waits for its second factor. */
export async function findWaitingSignIn(
  ctx: Ctx,
  request: Pick<RequestFacts, 'headers'>,
): Promise<Session | undefined> {
  const row = await findRow(ctx, request)
  return row?.waits_for ? { id: row.session_id, user: actorUser(row) } : undefined
}

async function findRow(ctx: Ctx, request: Pick<RequestFacts, 'headers'>) {
  const secret = readCookie(ctx, request, 'session')
  if (secret === undefined) return undefined
  const row = await findSessionByDigest(ctx.db, digestOf(secret), ctx.now())
  return row?.state === 'active' ? row : undefined
}

/** Mails people about a sign-in from an address that they have not used before, where administrators want that. */
async function warnOfPlace(ctx: Ctx, userId: number): Promise<void> {
  if (!ctx.settings.get('notify_on_unknown_sign_in') || ctx.ip === '') return
  const places = await listPlaces(ctx.db, userId)
  if (places.length === 0 || places.includes(ctx.ip)) return
  await mailUser(ctx, userId, {
    subject: 'You signed in from a new place',
    text: `Somebody signed in to your account from ${ctx.ip} at ${ctx.now()}. If that was not you, change your password at ${ctx.config.externalUrl}/-/user_settings/password, or have another sent by ${ctx.config.externalUrl}/users/password/new: a new password ends all sessions.\n`,
    key: `sign-in-${Date.parse(ctx.now())}`,
  })
}

export interface SessionOptions {
  /** The browser is to be remembered beyond its end. */
  readonly remember?: boolean
}

/** How long a browser is remembered where its person asks for that. */
const REMEMBERED_MS = 14 * 24 * 3600 * 1000

/**
 * Signs a browser in; gives the headers of the answer. A new secret each time: nobody can plant one. It ends with the browser,
 * and after `session_expire_delay` in any case; one that is to be remembered (`remember_me_enabled`) lasts two weeks.
 */
export async function beginSession(
  ctx: Ctx,
  actor: UserActor,
  request: Pick<RequestFacts, 'headers'>,
  options: SessionOptions = {},
): Promise<Record<string, string>> {
  const remembers = options.remember === true && ctx.settings.get('remember_me_enabled')
  const ofSession = ctx.settings.get('session_expire_delay') * 60_000
  return await inTransaction({ ...ctx, actor }, async (inner) => {
    await warnOfPlace(inner, actor.user.id)
    const headers = await openSession(inner, actor.user.id, request, {
      milliseconds: remembers ? Math.max(REMEMBERED_MS, ofSession) : ofSession,
      outlivesBrowser: remembers,
      proved_at: inner.now(),
    })
    await noteSignIn(inner, actor.user.id)
    const entity = { type: 'User', id: actor.user.id } as const
    await audit(inner, { entity, action: 'signed_in' })
    return headers
  })
}

const SECOND_STEP_WITHIN_MS = 10 * 60_000

/** Remembers that a browser has done the first step of a sign-in; that opens nothing. */
export async function beginWaiting(
  ctx: Ctx,
  user: { readonly id: number },
  request: Pick<RequestFacts, 'headers'>,
): Promise<Record<string, string>> {
  return await openSession(ctx, user.id, request, {
    milliseconds: SECOND_STEP_WITHIN_MS,
    waits_for: 'second_factor',
  })
}

async function openSession(
  ctx: Ctx,
  userId: number,
  request: Pick<RequestFacts, 'headers'>,
  {
    milliseconds,
    outlivesBrowser = false,
    ...more
  }: { milliseconds: number; outlivesBrowser?: boolean } & Partial<NewRowOf<'sessions'>>,
): Promise<Record<string, string>> {
  const secret = randomBytes(32).toString('base64url')
  const now = ctx.now()
  await insertSession(ctx.db, {
    ...more,
    user_id: userId,
    digest: digestOf(secret),
    ip: ctx.ip || null,
    user_agent: String(request.headers['user-agent'] ?? '').slice(0, 300) || null,
    expires_at: later(now, milliseconds),
    created_at: now,
  })
  const seconds = outlivesBrowser ? milliseconds / 1000 : undefined
  return { 'Set-Cookie': setCookie(ctx, 'session', secret, seconds) }
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
