import { type Actor, ANONYMOUS, userOf } from '../access/actor.ts'
import { type Credentials, hasScope } from '../access/authentication/credentials.ts'
import { hidden, insufficientScope } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'
import type { Endpoint } from './endpoint.ts'
import type { PipelineParts } from './pipeline-parts.ts'
import type { ApiRequest } from './request.ts'
import { type Counters, throttle } from './throttle.ts'

/** What the request throttle says of a request, once it was counted: answers and refusals show it alike. */
export interface Rate {
  headers: Readonly<Record<string, string>>
}

/** Finds the caller, counts the request, and refuses what needs no look at the subject. */
export async function identify(
  parts: PipelineParts,
  counters: Counters,
  asked: { readonly request: ApiRequest; readonly endpoint: Endpoint; readonly rate: Rate },
  credentials: Credentials,
): Promise<Ctx> {
  const { request, endpoint, rate } = asked
  const anonymous = parts.makeCtx(ANONYMOUS, request.ip)
  const signIn = async () =>
    endpoint.ownSignIn ? ANONYMOUS : await parts.signIn(anonymous, credentials, endpoint)
  const actor = await signIn().catch((refusal: unknown) => {
    // Whoever guesses tokens is a stranger, and counted as one.
    rate.headers = countRequest(parts, counters, anonymous, asked)
    throw refusal
  })
  const ctx = parts.makeCtx(actor, request.ip)
  rate.headers = countRequest(parts, counters, ctx, asked)
  assertScope(actor, endpoint)
  if (endpoint.offered && !parts.isOffered(endpoint.offered.setting)) throw hidden()
  endpoint.access.before(ctx)
  const causedBy = ctx.config.vendor.readHeader(request.headers, 'Event-UUID')
  return causedBy === undefined ? ctx : { ...ctx, causedBy: causedBy.slice(0, 36) }
}

const WATCHED = new Set(['/-/health', '/-/liveness', '/-/readiness', '/-/metrics'])

function countRequest(
  parts: PipelineParts,
  counters: Counters,
  ctx: Ctx,
  { request, endpoint }: { readonly request: ApiRequest; readonly endpoint: Endpoint },
): Record<string, string> {
  // Whoever watches the service must not be refused for its rate.
  if (WATCHED.has(endpoint.path)) return {}
  const user = userOf(ctx.actor)
  if (parts.isUnthrottled(request, user?.id)) return {}
  const rules = parts.throttles()
  const rule = user ? rules.signedIn : rules.anonymous
  if (!rule.enabled) return {}
  const key = user ? `user ${user.id}` : ctx.ip
  const words = ctx.settings.get('rate_limiting_response_text')
  return throttle(counters, rule, key, Date.parse(ctx.now()), words)
}

function assertScope(actor: Actor, endpoint: Endpoint): void {
  if (actor.kind !== 'user' || !actor.token || endpoint.scopes.includes('any')) return
  if (!hasScope(actor.token, endpoint.scopes)) {
    throw insufficientScope([...new Set([...endpoint.scopes, 'read_api'])].sort())
  }
}
