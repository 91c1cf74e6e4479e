import { type Instant, later } from '../../base/clock.ts'
import { unlessDiskFull } from '../../base/full-disk.ts'
import { forbidden, Problem, unauthorized } from '../../base/problem.ts'
import {
  type Actor,
  type ActorUser,
  ANONYMOUS,
  actorUser,
  type UserActor,
  withoutToken,
} from '../actor.ts'
import { audit } from '../audit.ts'
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
  elsewhere: Elsewhere = async () => undefined,
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
  let byDirectory: UserActor | undefined
  const row = await comparePassword(context, given, async () => {
    byDirectory = await elsewhere(given)
    return byDirectory !== undefined
  })
  if (byDirectory) return byDirectory
  const actor = admitProgram(context, knownOf(row))
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

/** Who has a name and password that are not ours but a directory's; undefined for nobody. */
export type Elsewhere = (given: {
  readonly user: string
  readonly password: string
}) => Promise<UserActor | undefined>

/** Somebody who has shown who they are; that alone does not let them in. */
export interface KnownUser {
  readonly user: ActorUser
  readonly confirmedAt: Instant | null
  readonly createdAt: Instant
}

/** Somebody whose password was right. */
interface KnownByPassword extends KnownUser {
  readonly hasSecondFactor: boolean
  /** From then on the password serves for nothing but setting another. */
  readonly passwordExpiresAt: Instant | null
}

/** The user with this name or e-mail and password; takes as long when there is no such user. */
export async function findByPassword(
  context: AuthenticationContext,
  given: { readonly user: string; readonly password: string },
): Promise<KnownByPassword> {
  return knownOf(await comparePassword(context, given))
}

/** The row of the user who was named; 401 unless the password is theirs, or is right elsewhere. */
async function comparePassword(
  context: AuthenticationContext,
  given: { readonly user: string; readonly password: string },
  isRightElsewhere: () => Promise<boolean> = async () => false,
) {
  const row = await findUserForPassword(context.db, given.user)
  const isRight = async () => {
    const right = await verifyPassword(given.password, row?.password_hash ?? null)
    return (right && row?.kind === 'human') || (await isRightElsewhere())
  }
  const { ip, log, guesses } = context
  const guess = { ip, account: given.user, userId: row?.id, log, now: () => context.now() }
  if (!(await guesses.compare(guess, isRight))) {
    if (row?.kind === 'human') await noteRefusal(context, row.id)
    throw unauthorized()
  }
  return row
}

function knownOf(row: Awaited<ReturnType<typeof findUserForPassword>>): KnownByPassword {
  if (!row) throw unauthorized()
  return {
    user: actorUser(row),
    confirmedAt: row.confirmed_at,
    createdAt: row.created_at,
    hasSecondFactor: row.two_factor === 1,
    passwordExpiresAt: row.password_expires_at,
  }
}

/** Owners of an account and administrators can see who tried. The limit of guesses bounds how much this writes. */
async function noteRefusal(context: AuthenticationContext, userId: number): Promise<void> {
  const entity = { type: 'User', id: userId } as const
  const event = { entity, action: 'password_refused' }
  await unlessDiskFull(audit({ ...context, actor: ANONYMOUS, now: () => context.now() }, event))
}

/** Lets somebody in who has shown who they are: 403 for who is blocked, or has an address to confirm. */
export function admit(
  context: AuthenticationContext,
  { user, confirmedAt, createdAt }: KnownUser,
): UserActor {
  assertUserMaySignIn(user)
  if (confirmedAt === null) assertMayConfirmLater(context, createdAt)
  return withoutToken(user)
}

/**
 * The user with this name or e-mail and password, if the password alone lets them in: programs are asked for no second
 * factor, and so need a token where there is one.
 */
export async function signInWithPassword(
  context: AuthenticationContext,
  given: { readonly user: string; readonly password: string },
): Promise<UserActor> {
  return admitProgram(context, await findByPassword(context, given))
}

function admitProgram(context: AuthenticationContext, known: KnownByPassword): UserActor {
  const actor = admit(context, known)
  assertOneFactor(known)
  if (known.passwordExpiresAt !== null && known.passwordExpiresAt <= context.now()) {
    throw forbidden(`Your password must be changed: sign in with a browser. ${USE_TOKEN}`)
  }
  return actor
}

/** Programs are asked for nothing but a password, whoever knows it: 403 for who has a second factor. */
export function assertOneFactor({ hasSecondFactor }: { readonly hasSecondFactor: boolean }): void {
  if (hasSecondFactor) throw forbidden(`This account has a second factor. ${USE_TOKEN}`)
}

const USE_TOKEN = 'Programs sign in with a personal access token as the password.'

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
    case 'deploy_key':
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
