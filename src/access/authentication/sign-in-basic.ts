import { type Instant, later } from '../../base/clock.ts'
import { forbidden, Problem, unauthorized } from '../../base/problem.ts'
import { type Actor, type ActorUser, actorUser, type UserActor, withoutToken } from '../actor.ts'
import { assertUserMaySignIn, findActorByToken } from './authenticate.ts'
import type { AuthenticationContext } from './authentication-context.ts'
import { type Credentials, hasScope } from './credentials.ts'
import { findDeployToken } from './deploy-token.ts'
import { findJobActor } from './job-token.ts'
import { verifyPassword } from './password.ts'
import { findUserForPassword } from './sign-in-queries.ts'

/** What clients write for a password when the token stands as the user name. */
const NO_PASSWORD: readonly string[] = ['', 'x-oauth-basic']

/**
 * Who signs in with Basic authentication, in the order of docs/contract/D §3.2: the token of a job, a token as the password (or as
 * the user name), a deploy token, user name or e-mail with password. Unknown, expired and revoked → 401; blocked user → 403;
 * an address that guesses passwords → 429. Scopes are asked by `mayUseGit` and by the registries.
 */
export async function signInWithBasic(
  context: AuthenticationContext,
  given: NonNullable<Credentials['basic']>,
): Promise<Actor> {
  const isJob = context.config.vendor.jobTokenUsers.includes(given.user)
  const byJob = isJob ? await findJobActor(context, given.password) : undefined
  if (byJob) return byJob
  const secret = NO_PASSWORD.includes(given.password) ? given.user : given.password
  const byToken = await findActorBySecret(context, secret)
  if (byToken) return byToken
  // The token of a job that has ended is no guess at a password.
  if (isJob) throw unauthorized()
  const byDeployToken = await findDeployToken(context, given)
  if (byDeployToken) return byDeployToken
  const actor = await signInWithPassword(context, given)
  if (!context.settings.get('password_authentication_enabled_for_git')) {
    throw forbidden('Sign in with a personal access token as the password')
  }
  return actor
}

async function findActorBySecret(
  context: AuthenticationContext,
  secret: string,
): Promise<UserActor | undefined> {
  if (secret === '') return undefined
  try {
    return await findActorByToken(context, secret)
  } catch (error) {
    // Basic clients get the common challenge, not the words of Bearer tokens.
    if (error instanceof Problem && error.code === 'unauthorized') throw unauthorized()
    throw error
  }
}

/** Somebody whose password was right; that alone does not let them in. */
export interface KnownByPassword {
  readonly user: ActorUser
  readonly confirmedAt: Instant | null
  readonly createdAt: Instant
}

/** The user with this name or e-mail and password; takes as long when there is no such user. */
export async function findByPassword(
  context: AuthenticationContext,
  given: { readonly user: string; readonly password: string },
): Promise<KnownByPassword> {
  const row = await findUserForPassword(context.db, given.user)
  const isRight = async () => {
    const right = await verifyPassword(given.password, row?.password_hash ?? null)
    return right && row?.kind === 'human'
  }
  const right = await context.guesses.compare(context.ip, () => context.now(), isRight)
  if (!row || !right) throw unauthorized()
  return { user: actorUser(row), confirmedAt: row.confirmed_at, createdAt: row.created_at }
}

/** Lets somebody in whose password was right: 403 for who is blocked, or has an address to confirm. */
export function admit(
  context: AuthenticationContext,
  { user, confirmedAt, createdAt }: KnownByPassword,
): UserActor {
  assertUserMaySignIn(user)
  if (confirmedAt === null) assertMayConfirmLater(context, createdAt)
  return withoutToken(user)
}

/** The user with this name or e-mail and password, if they may sign in. */
export async function signInWithPassword(
  context: AuthenticationContext,
  given: { readonly user: string; readonly password: string },
): Promise<UserActor> {
  return admit(context, await findByPassword(context, given))
}

/** How long people may put off the confirmation of their address where administrators are lenient about it. */
const LENIENT_MS = 3 * 86_400_000

/** Without a confirmed address people sign in only as far as the instance's settings let them. */
function assertMayConfirmLater(context: AuthenticationContext, createdAt: Instant): void {
  const setting = context.settings.get('email_confirmation_setting')
  const isOver = setting === 'soft' && later(createdAt, LENIENT_MS) <= context.now()
  if (setting === 'hard' || isOver) {
    throw forbidden('You have to confirm your email address before continuing.')
  }
}

const PULL_SCOPES = ['api', 'read_api', 'read_repository', 'write_repository']
const PUSH_SCOPES = ['api', 'write_repository']

/**
 * Whether the credential may be used to pull or push at all (docs/contract/D §3.2); the project's rules are asked beside it.
 * Nobody pushes without signing in, and a deploy token never does. A job pushes only where its project allows that.
 */
export function mayUseGit(actor: Actor, what: 'pull' | 'push'): boolean {
  switch (actor.kind) {
    case 'anonymous':
      return what === 'pull'
    case 'job':
    case 'system':
      return true
    case 'deploy_token':
      return what === 'pull' && actor.scopes.includes('read_repository')
    case 'user':
      return (
        actor.token === null || hasScope(actor.token, what === 'pull' ? PULL_SCOPES : PUSH_SCOPES)
      )
  }
}
