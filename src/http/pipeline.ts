import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { userOf } from '../access/actor.ts'
import type { Credentials } from '../access/authentication/credentials.ts'
import type { NamesPage, Page, Paged } from '../base/page.ts'
import { noMethod, noRoute, Problem, uriTooLong } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'
import { readForm } from './body/form.ts'
import { unpackedHead } from './body/packed.ts'
import { identify, type Rate } from './caller.ts'
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
import { linkMaker, urlMaker } from './links.ts'
import { anyOrigin, originRefusal, preflight, withAnyOrigin } from './listener/any-origin.ts'
import { PEEK_BYTES, peekCredentials } from './listener/early-credentials.ts'
import { jsonOf } from './listener/ready.ts'
import { withoutNulls } from './null-input.ts'
import { pageHeaders, readPage } from './paging.ts'
import { fileNamesOf } from './params.ts'
import type { ApiAnswer, PipelineParts } from './pipeline-parts.ts'
import { type Input, NO_BODY, type ReadBody, readBody, readPayload } from './read-input.ts'
import { type ApiRequest, header } from './request.ts'
import { assertWithinLimit, Counters } from './throttle.ts'
import { refuseWrong, validate } from './validate.ts'

/** One request through the one order: route, actor, subject and ability, validation, handler, answer. */
export function makePipeline(parts: PipelineParts): (request: ApiRequest) => Promise<ApiAnswer> {
  const counters = new Counters()
  return async (request) => {
    const rate: Rate = { headers: {} }
    try {
      const answered = await answer(parts, counters, request, rate)
      return { ...answered, headers: { ...answered.headers, ...rate.headers } }
    } catch (error) {
      const { status, body, fault, ...refusal } = answerFor(error)
      const headers = { ...rate.headers, ...refusal.headers }
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
  rate: Rate,
): Promise<ApiAnswer> {
  if (request.rawQuery.length > parts.limits.query) throw uriTooLong()
  const match = parts.router.find(request.method, request.rawPath)
  if (match.kind === 'no_route') throw noRoute()
  if (request.method === 'OPTIONS') return options(parts, request, match)
  if (match.kind === 'no_method') throw noMethod(match.allow)
  const { endpoint, path } = match
  const query = readForm(request.rawQuery, parts.limits)
  try {
    const answered = await run(parts, counters, { request, endpoint, path, query, rate })
    return endpoint.anyOrigin ? withAnyOrigin(answered) : answered
  } catch (error) {
    if (endpoint.anyOrigin) throw originRefusal(error)
    throw endpoint.client ? clientRefusal(endpoint.client, error, parts) : error
  } finally {
    request.body.close()
  }
}

function options(
  parts: PipelineParts,
  request: ApiRequest,
  match: { kind: string; allow?: readonly string[]; endpoint?: Endpoint },
): ApiAnswer {
  const methods = match.allow ?? [match.endpoint?.method ?? 'GET', 'OPTIONS']
  const headers = { Allow: methods.join(', ') }
  const asked = header(request, 'access-control-request-method')
  const meant = asked === undefined ? undefined : parts.router.find(asked, request.rawPath)
  const opens = meant?.kind === 'found' && meant.endpoint.anyOrigin
  const more = opens ? { ...anyOrigin, ...preflight(methods) } : {}
  return { status: 204, headers: { ...headers, ...more }, body: null }
}

interface Step {
  readonly request: ApiRequest
  readonly endpoint: Endpoint
  readonly path: Record<string, string>
  readonly query: Input
  readonly rate: Rate
}

/** A caller who may do to the subject what they ask. */
interface Admitted {
  readonly ctx: Ctx
  readonly subject: unknown
}

async function run(parts: PipelineParts, counters: Counters, step: Step): Promise<ApiAnswer> {
  const { request, endpoint, query } = step
  const inQuery = readCredentials(request, query, {}, endpoint.client)
  const early =
    endpoint.raw || endpoint.ownSignIn || isRead(endpoint)
      ? {}
      : await peekCredentials(request, inQuery, parts.limits.idleMs)
  const credentials = readCredentials(request, query, early, endpoint.client)
  const ctx = await identify(parts, counters, step, credentials)
  const place = endpoint.cached ? parts.responses?.place(ctx, request) : undefined
  const cached = place?.find()
  if (cached) return cached
  const recording = place?.begin() ?? ctx
  const answered = await work(parts, counters, { ...step, credentials }, recording)
  place?.keep(answered)
  return answered
}

function isRead(endpoint: Endpoint): boolean {
  return endpoint.method === 'GET' || endpoint.method === 'HEAD'
}

/** Subject and ability, and only then the rest. */
async function work(
  parts: PipelineParts,
  counters: Counters,
  step: Step & { readonly credentials: Credentials },
  ctx: Ctx,
): Promise<ApiAnswer> {
  const subject = await findSubject(parts, step, ctx)
  try {
    return await serve(parts, counters, step, { ctx, subject })
  } catch (error) {
    if (answerFor(error).fault) await findSubjectAgain(parts, step, ctx)
    throw error
  }
}

/** The body where there is one; with it validation and the handler. */
async function serve(
  parts: PipelineParts,
  counters: Counters,
  step: Step & { readonly credentials: Credentials },
  admitted: Admitted,
): Promise<ApiAnswer> {
  const { request, endpoint, query } = step
  if (isRead(endpoint)) return await perform(parts, counters, step, admitted, query)
  const body = await readBodyOf(parts, step, admitted.ctx)
  try {
    const input = { ...query, ...body.input }
    const credentials = readCredentials(request, query, body.input, endpoint.client)
    if (endpoint.ownSignIn || isDeepStrictEqual(credentials, step.credentials)) {
      return await perform(parts, counters, step, admitted, input)
    }
    // Credentials in a body whose caller was admitted without them, such as `sudo`: they alone decide.
    const ctx = await identify(parts, counters, step, credentials)
    const subject = await findSubject(parts, step, ctx)
    return await perform(parts, counters, step, { ctx, subject }, input)
  } finally {
    await body.clean()
  }
}

/** The subject of the request, for a caller who may do to it what they ask. */
async function findSubject(
  parts: PipelineParts,
  step: Step,
  ctx: Ctx,
  peek = () => peekBody(step.request, parts.limits.idleMs),
): Promise<unknown> {
  const { request, endpoint, path } = step
  try {
    return await endpoint.access.find({
      ctx,
      method: request.method,
      headers: request.headers,
      path,
      urlWith: urlMaker(parts.baseUrl, step.endpoint, step.request),
      read: (params) => readPath(params, path),
      query: step.query,
      peek,
    })
  } catch (refusal) {
    if (!endpoint.access.subjectFirst) await refuseWrongFirst(parts, step, ctx)
    throw refusal
  }
}

/** Refuses with 404 where the subject was deleted while the request was served: what failed for that is no fault. */
async function findSubjectAgain(parts: PipelineParts, step: Step, ctx: Ctx): Promise<void> {
  try {
    await findSubject(parts, step, ctx, async () => Buffer.alloc(0))
  } catch (refusal) {
    if (refusal instanceof Problem && refusal.status === 404) throw refusal
  }
}

/**
 * Some resources tell of wrong parameters before they tell whether the subject is there (docs/contract/A-resolved §1). Of a
 * caller who will be refused no more is read for that than of one who is not known yet.
 */
async function refuseWrongFirst(parts: PipelineParts, step: Step, ctx: Ctx): Promise<void> {
  const { request, query } = step
  const check = (input: Input) => readParameters(step, withoutNulls(step.endpoint.body, input))
  if (isRead(step.endpoint)) return void check(query)
  if (request.body.waits || (request.body.length ?? 0) > PEEK_BYTES) return
  const { bytes, whole } = request.body.declared
    ? await request.body.peek(PEEK_BYTES, parts.limits.idleMs)
    : { bytes: Buffer.alloc(0), whole: true }
  if (!whole || bytes.length > PEEK_BYTES) return
  const body = await readBodyOf(parts, step, ctx)
  await body.clean()
  check({ ...query, ...body.input })
}

/** The first bytes of a body, unpacked; empty where the client waits to be asked for it. */
async function peekBody(request: ApiRequest, withinMs: number): Promise<Buffer> {
  const { body } = request
  if (!body.declared || body.waits) return Buffer.alloc(0)
  const { bytes } = await body.peek(PEEK_BYTES, withinMs)
  return await unpackedHead(body.encoding, bytes, PEEK_BYTES)
}

async function readBodyOf(parts: PipelineParts, step: Step, ctx: Ctx): Promise<ReadBody> {
  const { request, endpoint } = step
  if (endpoint.raw || !request.body.declared) return NO_BODY
  return await readBody(request, {
    limits: parts.limits,
    budgets: parts.budgets,
    anonymous: ctx.actor.kind === 'anonymous',
    bytes: endpoint.maxBody ?? parts.limits.bytes,
    files: fileNamesOf(endpoint.body),
  })
}

/** What an admitted caller gets: validation, handler, answer. */
async function perform(
  parts: PipelineParts,
  counters: Counters,
  step: Step,
  { ctx, subject }: Admitted,
  raw: Input,
): Promise<ApiAnswer> {
  const { request, endpoint, path } = step
  // Only a body can hold null.
  const input = isRead(endpoint) ? raw : withoutNulls({ ...endpoint.query, ...endpoint.body }, raw)
  const read = readParameters(step, input)
  if (endpoint.limit)
    assertWithinLimit(
      counters,
      asSet(ctx, endpoint.limit),
      limitKey(ctx, endpoint, path),
      Date.parse(ctx.now()),
    )
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
  const held: (() => void)[] = []
  const facts: RequestFacts = {
    method: request.method,
    headers: request.headers,
    ip: request.ip,
    signal: request.signal,
    get body() {
      const maxBytes = endpoint.maxBody ?? Number.POSITIVE_INFINITY
      return request.body.stream({ idleMs: parts.limits.idleMs, maxBytes })
    },
    async payload() {
      const bytes = endpoint.maxBody ?? parts.limits.bytes
      const read = await readPayload(request, { ...parts, bytes })
      held.push(read.release)
      return read.bytes
    },
    sent: new Set(Object.keys(input)),
    received: raw,
    url: parts.baseUrl + request.rawPath,
    countAgainst(limit, subject) {
      const key = `${callerKey(ctx)} ${subject}`
      assertWithinLimit(counters, asSet(ctx, limit), key, Date.parse(ctx.now()))
    },
  }
  try {
    const result = await endpoint.handler({ ...given, page, request: facts })
    const linkInput = { ...path, ...input }
    return present(parts, endpoint, result, page, linkMaker(parts.baseUrl, request, linkInput))
  } finally {
    for (const release of held) release()
  }
}

/** The limit with the number that administrators have set, where it is theirs; some users they let comment without one. */
function asSet(ctx: Ctx, limit: RateLimit): RateLimit {
  if (!limit.setting) return limit
  const isExempt =
    limit.setting === 'notes_create_limit' &&
    ctx.settings.get('notes_create_limit_allowlist').includes(userOf(ctx.actor)?.username ?? '')
  return { ...limit, perMinute: isExempt ? 0 : ctx.settings.get(limit.setting) }
}

function limitKey(ctx: Ctx, endpoint: Endpoint, path: Readonly<Record<string, string>>): string {
  if (endpoint.limit?.scope === 'address') return ctx.ip
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
