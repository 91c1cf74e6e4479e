import type { Readable } from 'node:stream'
import { z } from 'zod'
import { type Actor, ANONYMOUS, userOf } from '../access/actor.ts'
import type { Credentials } from '../access/credentials.ts'
import { hasScope } from '../access/credentials.ts'
import type { NamesPage, Page, Paged } from '../base/page.ts'
import { hidden, insufficientScope, noMethod, noRoute, uriTooLong } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'
import { clientRefusal } from './client-protocol.ts'
import { readCredentials } from './credentials.ts'
import {
  Answer,
  type Bytes,
  type Endpoint,
  JsonStream,
  type RateLimit,
  type RequestFacts,
  type Shape,
} from './endpoint.ts'
import { answerFor } from './errors.ts'
import type { KeptAnswers } from './kept-answers.ts'
import { pageHeaders, readPage } from './paging.ts'
import {
  type BodyLimits,
  type Input,
  NO_BODY,
  type ReadBody,
  readBody,
  readQuery,
} from './read-input.ts'
import { jsonOf } from './ready.ts'
import type { ApiRequest } from './request.ts'
import type { Router } from './router.ts'
import { assertWithinLimit, Counters, type ThrottleRule, throttle } from './throttle.ts'
import { refuseWrong, validate } from './validate.ts'

/** An answer without any Express in it. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer | Readable | null
  /** What went wrong on our side, for the log. */
  readonly fault?: unknown
}

/** What the pipeline is given by `app.ts`. */
export interface PipelineParts {
  readonly router: Router
  /** The request's ctx for an actor. */
  makeCtx(actor: Actor, ip: string): Ctx
  /** Who the credentials are; `endpoint` tells which kinds it admits. */
  signIn(ctx: Ctx, credentials: Credentials, endpoint: Endpoint): Promise<Actor>
  /** The request throttles as settings have them now. */
  throttles(): { readonly signedIn: ThrottleRule; readonly anonymous: ThrottleRule }
  /** Whether the instance offers what the endpoint needs. */
  isOffered(setting: string): boolean
  readonly limits: BodyLimits & { readonly query: number }
  /** `{external URL}/api/v4`. */
  readonly baseUrl: string
  /** Responses are checked against their schemas (tests and development). */
  readonly checkResponses: boolean
  /** Where answers of endpoints that say so are kept. */
  readonly kept?: KeptAnswers
}

/** One request through the one order: route, actor, subject and ability, validation, handler, answer. */
export function makePipeline(parts: PipelineParts): (request: ApiRequest) => Promise<ApiAnswer> {
  const counters = new Counters()
  return async (request) => {
    try {
      return await answer(parts, counters, request)
    } catch (error) {
      const { status, body, headers, fault } = answerFor(error)
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      const type = typeof body === 'string' ? 'text/plain' : 'application/json'
      const withType = text === '' ? headers : { 'Content-Type': type, ...headers }
      return { status, headers: withType, body: text, ...(fault ? { fault: error } : {}) }
    }
  }
}

async function answer(
  parts: PipelineParts,
  counters: Counters,
  request: ApiRequest,
): Promise<ApiAnswer> {
  if (request.rawQuery.length > parts.limits.query) throw uriTooLong()
  const match = parts.router.find(request.method, request.rawPath)
  if (match.kind === 'no_route') throw noRoute()
  if (request.method === 'OPTIONS') return options(match)
  if (match.kind === 'no_method') throw noMethod(match.allow)
  const { endpoint, path } = match
  const query = readQuery(request.rawQuery)
  try {
    const body = endpoint.raw
      ? NO_BODY
      : await readBody(request, {
          ...parts.limits,
          bytes: endpoint.maxBody ?? parts.limits.bytes,
        })
    try {
      return await run(parts, counters, { request, endpoint, path, query, body })
    } finally {
      await body.clean()
    }
  } catch (error) {
    throw endpoint.client ? clientRefusal(endpoint.client, error) : error
  }
}

function options(match: {
  kind: string
  allow?: readonly string[]
  endpoint?: Endpoint
}): ApiAnswer {
  const methods = match.allow ?? [match.endpoint?.method ?? 'GET', 'OPTIONS']
  return { status: 204, headers: { Allow: methods.join(', ') }, body: null }
}

interface Step {
  readonly request: ApiRequest
  readonly endpoint: Endpoint
  readonly path: Record<string, string>
  readonly query: Input
  readonly body: ReadBody
}

async function run(parts: PipelineParts, counters: Counters, step: Step): Promise<ApiAnswer> {
  const { request, endpoint, query } = step
  const reads = endpoint.method === 'GET' || endpoint.method === 'HEAD'
  const input: Input = reads ? query : { ...query, ...step.body.input }
  const anonymous = parts.makeCtx(ANONYMOUS, request.ip)
  const actor = endpoint.ownSignIn
    ? ANONYMOUS
    : await parts.signIn(
        anonymous,
        readCredentials(request, query, step.body.input, endpoint.client),
        endpoint,
      )
  const ctx = parts.makeCtx(actor, request.ip)
  const limitHeaders = countRequest(parts, counters, ctx, endpoint)
  assertScope(actor, endpoint)
  if (endpoint.offered && !parts.isOffered(endpoint.offered.setting)) throw hidden()
  endpoint.access.before(ctx)
  const place = endpoint.kept ? parts.kept?.place(ctx, request) : undefined
  const kept = place?.find()
  const answered = kept ?? (await work(parts, counters, step, input, place?.begin() ?? ctx))
  if (!kept) place?.keep(answered)
  return { ...answered, headers: { ...answered.headers, ...limitHeaders } }
}

/** What an admitted caller gets: subject and ability, validation, handler, answer. */
async function work(
  parts: PipelineParts,
  counters: Counters,
  step: Step,
  input: Input,
  ctx: Ctx,
): Promise<ApiAnswer> {
  const { request, endpoint, path } = step
  const find = () =>
    endpoint.access.find({
      ctx,
      method: request.method,
      headers: request.headers,
      path,
      urlWith: urlMaker(parts, step),
      read: (params) => readPath(params, path),
    })
  let subject = endpoint.access.subjectFirst ? await find() : undefined
  const read = readParameters(step, input)
  subject ??= await find()
  if (endpoint.limit)
    assertWithinLimit(
      counters,
      asSet(ctx, endpoint.limit),
      limitKey(ctx, endpoint, path),
      Date.parse(ctx.now()),
    )
  const given = { ...(subject as object), ctx, ...read }
  // A declaration's conditions take just what its handler is given.
  for (const condition of endpoint.conditions) await condition.assert(given as never)
  const page = endpoint.paginate ? readPage(endpoint.paginate, input) : undefined
  const facts: RequestFacts = {
    method: request.method,
    headers: request.headers,
    ip: request.ip,
    signal: request.signal,
    body: request.stream,
    sent: new Set(Object.keys(input)),
    url: parts.baseUrl + request.rawPath,
    countAgainst(limit, subject) {
      const key = `${callerKey(ctx)} ${subject}`
      assertWithinLimit(counters, asSet(ctx, limit), key, Date.parse(ctx.now()))
    },
  }
  const result = await endpoint.handler({ ...given, page, request: facts })
  const linkInput = { ...path, ...input }
  return present(parts, endpoint, result, page, linkMaker(parts, request, linkInput))
}

const WATCHED = new Set(['/-/health', '/-/liveness', '/-/readiness', '/-/metrics'])

function countRequest(
  parts: PipelineParts,
  counters: Counters,
  ctx: Ctx,
  endpoint: Endpoint,
): Record<string, string> {
  // Whoever watches the service must not be told to come later.
  if (WATCHED.has(endpoint.path)) return {}
  const rules = parts.throttles()
  const user = userOf(ctx.actor)
  const rule = user ? rules.signedIn : rules.anonymous
  if (!rule.enabled) return {}
  const key = user ? `user ${user.id}` : ctx.ip
  const words = ctx.settings.get('rate_limiting_response_text')
  return throttle(counters, rule, key, Date.parse(ctx.now()), words)
}

/** The limit with the number that administrators have set, where it is theirs. */
function asSet(ctx: Ctx, limit: RateLimit): RateLimit {
  return limit.setting ? { ...limit, perMinute: ctx.settings.get(limit.setting) } : limit
}

function assertScope(actor: Actor, endpoint: Endpoint): void {
  if (actor.kind !== 'user' || !actor.token || endpoint.scopes.includes('any')) return
  if (!hasScope(actor.token, endpoint.scopes)) {
    throw insufficientScope([...new Set([...endpoint.scopes, 'read_api'])].sort())
  }
}

function limitKey(ctx: Ctx, endpoint: Endpoint, path: Readonly<Record<string, string>>): string {
  const caller = callerKey(ctx)
  return endpoint.limit?.scope === 'caller' ? caller : `${caller} ${Object.values(path)[0] ?? ''}`
}

function callerKey(ctx: Ctx): string {
  return String(userOf(ctx.actor)?.id ?? ctx.ip)
}

function readParameters(step: Step, input: Input) {
  const { endpoint, path } = step
  const params = validate(endpoint.params, path)
  const query = validate(endpoint.query, input)
  const body = validate(endpoint.body, input)
  const joint = endpoint.check?.(new Set(Object.keys(input))) ?? []
  refuseWrong([...params.wrong, ...query.wrong, ...body.wrong, ...joint])
  return { params: params.value, query: query.value, body: body.value }
}

/** Path parameters that an access reads before anything else is validated. */
function readPath<P extends Shape>(params: P, path: Input) {
  const read = validate(params, path)
  refuseWrong(read.wrong)
  // What `validate` read has the schemas' types.
  return read.value as { readonly [K in keyof P]: z.infer<P[K]> }
}

function urlMaker(parts: PipelineParts, step: Step) {
  return (param: string, value: string): string => {
    const names = step.endpoint.path.split('/')
    const raw = step.request.rawPath.split('/')
    const path = raw.map((segment, index) =>
      names[index] === `:${param}` ? encodeURIComponent(value) : segment,
    )
    const query = step.request.rawQuery === '' ? '' : `?${step.request.rawQuery}`
    return parts.baseUrl + path.join('/') + query
  }
}

function linkMaker(parts: PipelineParts, request: ApiRequest, input: Input) {
  return (changes: Readonly<Record<string, string>>): string => {
    const pairs: [string, string][] = []
    for (const [key, value] of Object.entries({ ...input, ...changes })) flatten(pairs, key, value)
    const kept = pairs.filter(
      ([key]) => key !== 'private_token' && key !== 'job_token' && key !== 'access_token',
    )
    kept.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    return `${parts.baseUrl}${request.rawPath}?${new URLSearchParams(kept)}`
  }
}

function flatten(pairs: [string, string][], key: string, value: unknown): void {
  if (Array.isArray(value)) for (const item of value) flatten(pairs, `${key}[]`, item)
  else if (typeof value === 'object' && value !== null) {
    for (const [inner, item] of Object.entries(value)) flatten(pairs, `${key}[${inner}]`, item)
  } else if (value !== undefined) pairs.push([key, value === null ? '' : String(value)])
}

function present(
  parts: PipelineParts,
  endpoint: Endpoint,
  result: unknown,
  page: Page | NamesPage | undefined,
  link: (changes: Readonly<Record<string, string>>) => string,
): ApiAnswer {
  if (result instanceof JsonStream) {
    const headers = { 'Content-Type': 'application/json', ...result.headers }
    return { status: endpoint.status, headers, body: result.body }
  }
  const answered = result instanceof Answer ? result : new Answer(result)
  const status = answered.status ?? endpoint.status
  if (endpoint.response && !(endpoint.response instanceof z.ZodType))
    return presentBytes(result as Bytes, status)
  if (answered.body === undefined) return { status, headers: answered.headers, body: null }
  const paged = endpoint.paginate ? (answered.body as Paged<unknown>) : undefined
  const value = paged ? paged.items : answered.body
  const body = jsonOf(value)
  if (parts.checkResponses && endpoint.response instanceof z.ZodType && status < 300) {
    assertShape(endpoint, endpoint.response, JSON.parse(body.toString()))
  }
  const headers = paged && page ? pageHeaders(page, paged, link) : {}
  return {
    status,
    headers: { 'Content-Type': 'application/json', ...headers, ...answered.headers },
    body,
  }
}

function presentBytes(result: Bytes, status: number): ApiAnswer {
  const headers = { 'Content-Type': result.type, ...result.headers }
  return { status: result.status ?? status, headers, body: result.body }
}

function assertShape(endpoint: Endpoint, schema: z.ZodType, value: unknown): void {
  const read = schema.safeParse(value)
  if (read.success) return
  const issues = read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
  throw new Error(
    `${endpoint.method} ${endpoint.path} answers another shape: ${issues.slice(0, 8).join('; ')}`,
  )
}
