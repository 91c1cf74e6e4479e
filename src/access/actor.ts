import type { Instant } from '../base/clock.ts'

/** A token that signed a request in, as far as rules need to know it. */
export interface TokenUsed {
  readonly id: number
  readonly kind: 'personal' | 'impersonation' | 'project' | 'group' | 'oauth'
  readonly scopes: readonly string[]
}

/** The user behind a request. */
export interface ActorUser {
  readonly id: number
  readonly username: string
  readonly name: string
  readonly email: string
  readonly state: string
  readonly kind: 'human' | 'project_bot' | 'group_bot' | 'service_account' | 'ghost'
  readonly admin: boolean
  readonly external: boolean
}

/** What authentication reads of a user's row. */
type ActorUserRow = Omit<ActorUser, 'admin' | 'external'> & {
  readonly admin: 0 | 1
  readonly external: 0 | 1
}

export function actorUser(row: ActorUserRow): ActorUser {
  return {
    id: row.id,
    username: row.username,
    name: row.name,
    email: row.email,
    state: row.state,
    kind: row.kind,
    admin: row.admin === 1,
    external: row.external === 1,
  }
}

export interface Anonymous {
  readonly kind: 'anonymous'
}

/** The browser's session that signed a request in. */
export interface SessionUsed {
  readonly id: number
  /** When whoever sits there last showed a password, a code or a key. */
  readonly provedAt: Instant | null
  /** What must be done before anything else is open. */
  readonly due: 'password' | 'second_factor' | null
  /** Until when the user must have a second factor, where one is asked for. */
  readonly secondFactorBy: Instant | null
}

/** A person or bot; `token` is null for passwords, `sudoBy` is the administrator who acts as the user. */
export interface UserActor {
  readonly kind: 'user'
  readonly user: ActorUser
  readonly token: TokenUsed | null
  readonly sudoBy: ActorUser | null
  readonly session?: SessionUsed
}

/** A user who acts for themself and without a token: by a password, or by what the server does in their name. */
export function withoutToken(user: ActorUser): UserActor {
  return { kind: 'user', user, token: null, sudoBy: null }
}

/** A deploy token: no user, only its scopes in its project or in the projects of its group. */
export interface DeployTokenActor {
  readonly kind: 'deploy_token'
  readonly id: number
  readonly username: string
  readonly scopes: readonly string[]
  readonly projectId: number | null
  readonly groupId: number | null
}

/** A deploy key: reads the projects that it is linked to, and pushes to those that let it. */
export interface DeployKeyActor {
  readonly kind: 'deploy_key'
  readonly keyId: number
  readonly title: string
  /** Who added it, in whose name its pushes are recorded; null once there is no such account. */
  readonly owner: ActorUser | null
}

/** A running CI job: acts as the user who started it, within what job tokens may do (docs/contract/D §2.5). */
export interface JobActor {
  readonly kind: 'job'
  readonly jobId: number
  readonly projectId: number
  readonly user: ActorUser
}

/** The server itself, in background tasks. */
export interface SystemActor {
  readonly kind: 'system'
}

export type Actor =
  | Anonymous
  | UserActor
  | DeployTokenActor
  | DeployKeyActor
  | JobActor
  | SystemActor

export const ANONYMOUS: Anonymous = { kind: 'anonymous' }
export const SYSTEM: SystemActor = { kind: 'system' }

/** The user a request acts as, or null for anonymous callers, deploy tokens and the server itself. */
export function userOf(actor: Actor): ActorUser | null {
  return actor.kind === 'user' || actor.kind === 'job' ? actor.user : null
}

/** In whose name a push is recorded: a deploy key has no rights of its owner, but speaks for them in what follows. */
export function recordedUser(actor: Actor): ActorUser | null {
  return actor.kind === 'deploy_key' ? actor.owner : userOf(actor)
}

/**
 * Whether the caller has an administrator's rights. A job never has them, whoever started it; nor does who is blocked, for
 * whom a task may still run.
 */
export function isAdmin(actor: Actor): boolean {
  if (actor.kind === 'system') return true
  return actor.kind === 'user' && actor.user.admin && actor.user.state === 'active'
}
