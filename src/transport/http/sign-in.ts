import { type Actor, ANONYMOUS } from '../../access/actor.ts'
import { findActorByToken } from '../../access/authentication/authenticate.ts'
import { mayUseGit, signInWithBasic } from '../../access/authentication/sign-in-basic.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { basicOf } from '../../http/credentials.ts'
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
    if (basic) return await signInWithBasic(ctx, basic)
    const token = /^bearer\s+(\S+)\s*$/i.exec(authorization)?.[1]
    const actor = token === undefined ? undefined : await findActorByToken(ctx, token)
    if (actor) return actor
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    if (error.status === 429) throw tooManyFailures(error.headers['Retry-After'] ?? '60')
    if (error.status !== 401) throw notAllowed(error.message)
  }
  throw challenge(ctx.config.vendor.prefix)
}
