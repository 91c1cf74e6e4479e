import type { UserActor } from '../../../access/actor.ts'
import { assertOneFactor } from '../../../access/authentication/sign-in-basic.ts'
import { notFound, Problem, unauthorized } from '../../../base/problem.ts'
import type { LdapProvider } from '../../../base/providers/ldap.ts'
import { labelOf } from '../../../base/providers/provider.ts'
import type { Ctx } from '../../../ctx.ts'
import { callerId } from '../../users/find-user.ts'
import { linkIdentity } from '../../users/identities/link.ts'
import { findUserRow } from '../../users/queries.ts'
import { signInByProvider } from '../sign-in.ts'
import { DirectoryUnreachable, isPasswordOf, withDirectory } from './connection.ts'
import { type DirectoryPerson, findByUsername } from './people.ts'

export interface GivenPassword {
  readonly user: string
  readonly password: string
}

const LONGEST = 500

/** The directory of this name, or 404. */
export function getDirectory(ctx: Ctx, name: string): LdapProvider {
  const found = ctx.config.signInProviders.ldap.find((one) => one.name === name)
  if (!found) throw notFound()
  return found
}

/** Who has this name and password in a directory; undefined for a wrong one, 503 where the directory cannot be asked. */
async function prove(
  ctx: Ctx,
  provider: LdapProvider,
  { user, password }: GivenPassword,
): Promise<DirectoryPerson | undefined> {
  if (password === '' || user.trim() === '') return undefined
  if (user.length > LONGEST || password.length > LONGEST) return undefined
  try {
    const person = await withDirectory(ctx, provider, (client) =>
      findByUsername(client, provider, user),
    )
    const isRight = person && (await isPasswordOf(ctx, provider, person.dn, password))
    return isRight ? person : undefined
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    const kind = error instanceof DirectoryUnreachable ? 'cannot be asked' : 'refused a search'
    ctx.log.warn(`a directory ${kind}`, { provider: provider.name, why })
    const message = `${labelOf(provider)} cannot be reached. Please try again later.`
    throw new Problem('unavailable', 503, { message })
  }
}

/** Signs in by the password of one directory; 401 for a wrong one, 429 for who guesses. */
export async function signInByDirectory(
  ctx: Ctx,
  provider: LdapProvider,
  given: GivenPassword,
): Promise<UserActor> {
  return await signInByProvider(ctx, provider, await proveCounted(ctx, provider, given), true)
}

/** Links the entry of a directory to the caller, who must know its password. */
export async function linkDirectory(
  ctx: Ctx,
  provider: LdapProvider,
  given: GivenPassword,
): Promise<void> {
  const { uid } = await proveCounted(ctx, provider, given)
  await linkIdentity(ctx, callerId(ctx), { provider: provider.name, extern_uid: uid })
}

async function proveCounted(
  ctx: Ctx,
  provider: LdapProvider,
  given: GivenPassword,
): Promise<DirectoryPerson> {
  let person: DirectoryPerson | undefined
  const { ip, log } = ctx
  const account = `${provider.name} ${given.user}`
  const guess = { ip, account, userId: undefined, log, now: () => ctx.now() }
  await ctx.guesses.compare(guess, async () => {
    person = await prove(ctx, provider, given)
    return person !== undefined
  })
  if (!person) throw unauthorized()
  return person
}

/** Who has this name and password in one of the directories that git over HTTP takes; undefined for nobody. */
export async function findByDirectories(
  ctx: Ctx,
  given: GivenPassword,
): Promise<UserActor | undefined> {
  for (const provider of ctx.config.signInProviders.ldap) {
    const person = provider.git ? await prove(ctx, provider, given) : undefined
    if (!person) continue
    const actor = await signInByProvider(ctx, provider, person, true)
    const row = await findUserRow(ctx.db, actor.user.id)
    assertOneFactor({ hasSecondFactor: row?.two_factor === 1 })
    return actor
  }
  return undefined
}
