import { OutboundError } from '../../base/outbound/outbound-guard.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Bytes } from '../../http/endpoint.ts'
import { isPublishedIn, type SearchedPlace } from '../registry/place-queries.ts'
import { readForwarding } from '../settings/settings.ts'
import { gatewayProblem, UnusableAnswerError, UpstreamStatusError } from '../upstreams/ask.ts'

/** The formats whose unknown packages may be looked for at a public registry. */
export type ForwardedType = 'npm' | 'pypi' | 'maven'

/** What a client asks for that is not here. */
export interface Forwarded {
  readonly namespaceId?: number | undefined
  /** Where it was looked for; undefined where no package of this name can be. */
  readonly place: SearchedPlace | undefined
  /** The package that it is of, or may be, as the registry compares names. */
  readonly nameKeys: readonly string[]
  /** Where the public registry has it, for clients that are sent there; those that know only our address are not. */
  readonly path?: string
  /** The answer from what is kept of the public registry, where that is wanted. */
  fromCache(): Promise<Bytes>
}

const NOT_THERE: readonly number[] = [404, 410]

/**
 * What a client gets that asks for a package that is not here: what the public registry has, if administrators and the
 * owners of the groups above want that (docs/contract/C-resolved §5), else the refusal. Where there is a cache, it comes
 * from here; else the client gets its address.
 *
 * A name that is published where the client looks is asked for nowhere else, in none of its versions and for nobody: elsewhere
 * anybody could publish a package under it, for those who may not read ours.
 */
export async function forwardOr(
  ctx: Ctx,
  type: ForwardedType,
  asked: Forwarded,
  refusal: Problem,
): Promise<Bytes> {
  if (!(await isForwarded(ctx, type, asked.namespaceId))) throw refusal
  const { place, nameKeys } = asked
  if (place && (await isPublishedIn(ctx.db, type, place, nameKeys))) throw refusal
  const moved = asked.path === undefined ? refusal : elsewhere(ctx, type, asked.path)
  if (!keepsForwarded(ctx)) throw moved
  try {
    return await asked.fromCache()
  } catch (error) {
    if (error instanceof UpstreamStatusError && NOT_THERE.includes(error.upstreamStatus)) {
      throw refusal
    }
    if (isUnusable(error)) throw moved
    throw gatewayProblem(error)
  }
}

function isUnusable(error: unknown): boolean {
  const isTooLarge = error instanceof OutboundError && error.reason === 'too_large'
  return isTooLarge || error instanceof UnusableAnswerError
}

/** Whether callers get what was fetched for them: whoever has not signed in may not fill the cache. */
export function keepsForwarded(ctx: Pick<Ctx, 'config' | 'actor'>): boolean {
  return ctx.config.packageCache > 0 && ctx.actor.kind !== 'anonymous'
}

/** Whether requests for unknown packages of a format leave the server. */
export async function isForwarded(
  ctx: Ctx,
  type: ForwardedType,
  namespaceId: number | undefined,
): Promise<boolean> {
  const ofInstance = ctx.settings.get(`${type}_package_requests_forwarding`)
  if (namespaceId === undefined || ctx.settings.get(`lock_${type}_package_requests_forwarding`)) {
    return ofInstance
  }
  return (await readForwarding(ctx.db, namespaceId, type)) ?? ofInstance
}

/** The address of the public registry, without a slash at its end. */
export function rootOf(ctx: Pick<Ctx, 'config'>, type: ForwardedType): string {
  const roots = { npm: ctx.config.npmUrl, pypi: ctx.config.pypiUrl, maven: ctx.config.mavenUrl }
  return roots[type].replace(/\/+$/, '')
}

/** The same without a password, which is for this server alone. */
export function shownRootOf(ctx: Pick<Ctx, 'config'>, type: ForwardedType): string {
  const url = new URL(rootOf(ctx, type))
  url.username = ''
  url.password = ''
  return url.href.replace(/\/+$/, '')
}

/** 302, or 307 where the method must stay: the client goes on there by itself, and sends no token of ours along. */
export function elsewhere(ctx: Ctx, type: ForwardedType, path: string, status = 302): Problem {
  const root = shownRootOf(ctx, type)
  const message = `This package is looked for at ${root}`
  return new Problem('moved', status, { message }, { headers: { Location: `${root}/${path}` } })
}
