import { actorUser, SYSTEM, type UserActor } from '../../access/actor.ts'
import { audit } from '../../access/audit.ts'
import { runEffects } from '../../base/effects.ts'
import { forbidden, Problem } from '../../base/problem.ts'
import type { ProviderRole, SignInProvider } from '../../base/providers/provider.ts'
import type { Ctx } from '../../ctx.ts'
import { letIn } from '../sign-in/sign-in.ts'
import { findUserOfIdentity } from '../users/identities/queries.ts'
import { findUserRow, type UserRow } from '../users/queries.ts'
import { moveUser } from '../users/states.ts'
import { updateUser } from '../users/update-user.ts'
import { createFromProvider } from './first-sign-in.ts'
import type { ProvidedPerson } from './person.ts'

/**
 * Lets in whom a provider has proven; what stands against it is thrown and put on the audit trail. Whom a directory has
 * blocked, it lets back in itself.
 */
export async function signInByProvider(
  ctx: Ctx,
  provider: SignInProvider,
  person: ProvidedPerson,
  isDirectory = false,
): Promise<UserActor> {
  let known: UserRow | undefined
  try {
    assertAllowed(provider, person)
    known = await find(ctx, provider, person)
    if (isDirectory && known?.state === 'ldap_blocked') {
      await moveUser({ ...ctx, actor: SYSTEM }, known.id, 'admit_by_directory')
      known = { ...known, state: 'active' }
    }
    known ??= await create(ctx, provider, person)
    const actor = await admitRow(ctx, known)
    await bringUpToDate({ ...ctx, actor: SYSTEM }, provider, person, known.id)
    return actor
  } catch (error) {
    if (error instanceof Problem) await noteRefusal(ctx, provider.name, error.message, known?.id)
    throw error
  }
}

function find(ctx: Ctx, { name }: SignInProvider, { uid }: ProvidedPerson) {
  return findUserOfIdentity(ctx.db, { provider: name, extern_uid: uid })
}

/** Who comes for the first time in two windows at once gets one account. */
async function create(
  ctx: Ctx,
  provider: SignInProvider,
  person: ProvidedPerson,
): Promise<UserRow> {
  try {
    return await createFromProvider(ctx, provider, person)
  } catch (error) {
    const made = await find(ctx, provider, person)
    if (!made) throw error
    return made
  }
}

function assertAllowed({ allowed_groups: allowed }: SignInProvider, { groups }: ProvidedPerson) {
  if (allowed.length === 0 || groups.some((group) => allowed.includes(group))) return
  throw forbidden('You are in none of the groups that may sign in.')
}

async function admitRow(ctx: Ctx, row: UserRow): Promise<UserActor> {
  if (row.state === 'blocked_pending_approval') {
    throw forbidden('An administrator looks at your account before you can sign in.')
  }
  const { confirmed_at: confirmedAt, created_at: createdAt } = row
  const known = { user: actorUser(row), confirmedAt, createdAt }
  return await letIn(ctx, known, { auditsRefusal: false })
}

/** Makes somebody here what they are by their groups there; the server itself does it. */
export async function bringUpToDate(
  ctx: Ctx,
  provider: SignInProvider,
  { groups }: Pick<ProvidedPerson, 'groups'>,
  userId: number,
): Promise<void> {
  const { administrators } = provider
  if (administrators) {
    const isAdmin = groups.some((group) => administrators.includes(group))
    const row = await findUserRow(ctx.db, userId)
    if (row && isAdmin !== (row.admin === 1)) await updateUser(ctx, row, { admin: isAdmin })
  }
  if (Object.keys(provider.groups).length === 0) return
  const granted = new Map<string, ProviderRole | undefined>()
  for (const [name, grants] of Object.entries(provider.groups)) {
    for (const { group, role } of grants) {
      const isMember = groups.includes(name)
      granted.set(group, higher(granted.get(group), isMember ? role : undefined))
    }
  }
  const change = { userId, provider: provider.name, granted }
  await runEffects(ctx, ctx.effects.rolesProvided, change)
}

const order = ['guest', 'planner', 'reporter', 'developer', 'maintainer', 'owner']

function higher(one: ProviderRole | undefined, other: ProviderRole | undefined) {
  if (one === undefined || other === undefined) return one ?? other
  return order.indexOf(one) > order.indexOf(other) ? one : other
}

/** Puts a refusal on the audit trail: of an account where one is known, else of the instance. */
export async function noteRefusal(
  ctx: Ctx,
  provider: string,
  reason: string,
  userId?: number,
): Promise<void> {
  await audit(ctx, {
    entity: userId === undefined ? { type: 'Instance', id: 1 } : { type: 'User', id: userId },
    action: 'sign_in_refused',
    details: { provider, reason },
  })
}
