import type { Readable } from 'node:stream'
import type { z } from 'zod'
import { userOf } from '../../access/actor.ts'
import type { NamesPage, Page } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import type { Endpoint, InProcess, RateLimit, RequestFacts, Shape } from '../endpoint.ts'
import { readPage } from '../paging.ts'
import type { PipelineParts } from '../pipeline-parts.ts'
import type { Input } from '../read-input.ts'
import { assertWithinLimit, type Counters } from '../throttle.ts'
import { refuseWrong, validate } from '../validate.ts'

/** Where a call comes from: a request, or a page that calls an endpoint for its own request. */
export interface Caller {
  readonly parts: PipelineParts
  readonly counters: Counters
  readonly method: string
  readonly headers: RequestFacts['headers']
  readonly ip: string
  readonly signal: AbortSignal
  readonly id: string
  readonly rawQuery: string
  /** Runs further endpoints for the same request. */
  readonly inProcess: InProcess
}

/** An endpoint with what an admitted caller asks of it. */
export interface Invocation {
  readonly endpoint: Endpoint
  readonly path: Readonly<Record<string, string>>
  /** The parameters of query and body, merged. */
  readonly input: Input
  /** Facts that only the request itself knows. */
  readonly own: {
    readonly received: Input
    readonly url: string
    readonly body: Readable
    payload(): Promise<Buffer>
  }
  readonly ctx: Ctx
  readonly subject: unknown
}

/** Validation, limits, conditions and the handler, for a caller who was admitted: over HTTP and within a page alike. */
export async function invoke(
  caller: Caller,
  { endpoint, path, input, own, ctx, subject }: Invocation,
): Promise<{ readonly result: unknown; readonly page: Page | NamesPage | undefined }> {
  const { parts, counters } = caller
  const read = readParameters(endpoint, path, input)
  const nowMs = Date.parse(ctx.now())
  if (endpoint.limit) {
    assertWithinLimit(
      counters,
      asSet(ctx, endpoint.limit),
      limitKey(ctx, endpoint.limit, path),
      nowMs,
    )
  }
  const given = { ...(subject as object), ctx, ...read }
  // A declaration's conditions take just what its handler is given.
  for (const condition of endpoint.conditions) {
    for (const field of await condition.assert(given as never)) {
      delete given.body[field]
      delete given.query[field]
    }
  }
  const page = endpoint.paginate
    ? readPage(endpoint.paginate, input, parts.limits.offset)
    : undefined
  const request: RequestFacts = {
    method: caller.method,
    headers: caller.headers,
    ip: caller.ip,
    signal: caller.signal,
    id: caller.id,
    rawQuery: caller.rawQuery,
    stopping: parts.stopping,
    get body() {
      return own.body
    },
    payload: own.payload,
    sent: new Set(Object.keys(input)),
    received: own.received,
    url: own.url,
    inProcess: caller.inProcess,
    countAgainst(limit, subject) {
      const key = `${callerKey(ctx)} ${subject}`
      assertWithinLimit(counters, asSet(ctx, limit), key, Date.parse(ctx.now()))
    },
  }
  return { result: await endpoint.handler({ ...given, page, request }), page }
}

/** The limit with the number that administrators have set, where it is theirs; some users they let comment without one. */
function asSet(ctx: Ctx, limit: RateLimit): RateLimit {
  if (!limit.setting) return limit
  const isExempt =
    limit.setting === 'notes_create_limit' &&
    ctx.settings.get('notes_create_limit_allowlist').includes(userOf(ctx.actor)?.username ?? '')
  return { ...limit, perMinute: isExempt ? 0 : ctx.settings.get(limit.setting) }
}

function limitKey(ctx: Ctx, limit: RateLimit, path: Readonly<Record<string, string>>): string {
  if (limit.scope === 'address') return ctx.ip
  const caller = callerKey(ctx)
  return limit.scope === 'caller' ? caller : `${caller} ${Object.values(path)[0] ?? ''}`
}

function callerKey(ctx: Ctx): string {
  return String(userOf(ctx.actor)?.id ?? ctx.ip)
}

/** All parameters by their schemas; 400 with every text of what is wrong. */
export function readParameters(
  endpoint: Endpoint,
  path: Readonly<Record<string, string>>,
  input: Input,
) {
  const params = validate(endpoint.params, path)
  const query = validate(endpoint.query, input)
  const body = validate(endpoint.body, input)
  const joint = endpoint.check?.(new Set(Object.keys(input))) ?? []
  refuseWrong([...params.wrong, ...query.wrong, ...body.wrong, ...joint])
  return { params: params.value, query: query.value, body: body.value }
}

/** Path parameters that an access reads before anything else is validated. */
export function readPath<P extends Shape>(params: P, path: Input) {
  const read = validate(params, path)
  refuseWrong(read.wrong)
  // What `validate` read has the schemas' types.
  return read.value as { readonly [K in keyof P]: z.infer<P[K]> }
}
