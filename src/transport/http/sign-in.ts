import { type Actor, ANONYMOUS } from '../../access/actor.ts'
import { findActorByToken } from '../../access/authentication/authenticate.ts'
import { assertMayEnter } from '../../access/authentication/entry.ts'
import { mayUseGit, signInWithBasic } from '../../access/authentication/sign-in-basic.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { basicOf } from '../../http/credentials/credentials.ts'
import { findByDirectories } from '../../identity/providers/ldap/sign-in.ts'
import type { Service } from '../advertisements.ts'
import { challenge, notAllowed, tooManyFailures } from './refusal.ts'

/**
 * Who sends a git request (docs/contract/D §3.2). Wrong credentials get the challenge again, a blocked user or
 * a token without the scope 403 with the reason.
 */
export async function signIn(
  ctx: Ctx,
  authorization: string | undefined,
  service: Service,
): Promise<Actor> {
  if (authorization === undefined || authorization === '') return ANONYMOUS
  const actor = await actorOf(ctx, authorization)
  if (!mayUseGit(actor, service === 'upload-pack' ? 'pull' : 'push')) {
    const scopes = service === 'upload-pack' ? 'read_repository' : 'write_repository'
    throw notAllowed(`Your token lacks the scope for this: ${scopes} or api is needed.`)
  }
  return actor
}

async function actorOf(ctx: Ctx, authorization: string): Promise<Actor> {
  try {
    const basic = basicOf(authorization)
    const token = /^bearer\s+(\S+)\s*$/i.exec(authorization)?.[1]
    const byToken = () => (token === undefined ? undefined : findActorByToken(ctx, token))
    const elsewhere = (given: NonNullable<typeof basic>) => findByDirectories(ctx, given)
    const actor = basic ? await signInWithBasic(ctx, basic, elsewhere) : await byToken()
    if (actor) {
      await assertMayEnter(ctx, actor)
      return actor
    }
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (error.status === 429) throw tooManyFailures(error.headers['Retry-After'] ?? '60')
    if (error.status !== 401) throw notAllowed(error.message)
  }
  throw challenge(ctx.config.vendor.prefix)
}
