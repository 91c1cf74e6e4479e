import { Readable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import type { Credentials } from '../access/authentication/credentials.ts'
import type { NamesPage, Page, Paged } from '../base/page.ts'
import { noMethod, noRoute, Problem, uriTooLong } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'
import { readForm } from './body/form.ts'
import { unpackedHead } from './body/packed.ts'
import { makeInProcess } from './call/in-process.ts'
import { type Caller, invoke, readParameters, readPath } from './call/invoke.ts'
import { identify, type Rate } from './caller.ts'
import { clientRefusal } from './client-protocol.ts'
import { readCookie } from './credentials/cookies.ts'
import { readCredentials } from './credentials/credentials.ts'
import { Answer, type Bytes, type Endpoint, JsonText } from './endpoint.ts'
import { answerFor } from './errors.ts'
import { linkMaker, urlMaker } from './links.ts'
import { anyOrigin, originRefusal, preflight, withAnyOrigin } from './listener/any-origin.ts'
import { PEEK_BYTES, peekCredentials } from './listener/early-credentials.ts'
import { withoutNulls } from './null-input.ts'
import { pageHeaders } from './paging.ts'
import { fileNamesOf } from './params.ts'
import type { ApiAnswer, PipelineParts } from './pipeline-parts.ts'
import { type Input, NO_BODY, type ReadBody, readBody, readPayload } from './read-input.ts'
import { type ApiRequest, header } from './request.ts'
import { Counters } from './throttle.ts'

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
  const { request, endpoint } = step
  const inQuery = credentialsOf(parts, step, {})
  const early =
    endpoint.raw || endpoint.ownSignIn || isRead(endpoint)
      ? {}
      : await peekCredentials(request, inQuery, parts.limits.idleMs)
  const credentials = credentialsOf(parts, step, early)
  const ctx = await identify(parts, counters, step, credentials)
  return await work(parts, counters, { ...step, credentials }, ctx)
}

function credentialsOf(parts: PipelineParts, { request, query, endpoint }: Step, body: Input) {
  return readCredentials(request, query, body, endpoint, () =>
    readCookie({ config: parts }, request, 'session'),
  )
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
  const { endpoint, query } = step
  if (isRead(endpoint)) return await perform(parts, counters, step, admitted, query)
  const body = await readBodyOf(parts, step, admitted.ctx)
  try {
    const input = { ...query, ...body.input }
    const credentials = credentialsOf(parts, step, body.input)
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
      urlWith: urlMaker(parts.baseUrl, endpoint, request, path),
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
 * Some resources report wrong parameters before they report whether the subject is there (docs/contract/A-resolved §1). Of a
 * caller who will be refused no more is read for that than of one who is not known yet.
 */
async function refuseWrongFirst(parts: PipelineParts, step: Step, ctx: Ctx): Promise<void> {
  const { request, query } = step
  const check = (input: Input) =>
    readParameters(step.endpoint, step.path, withoutNulls(step.endpoint.body, input))
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
  admitted: Admitted,
  raw: Input,
): Promise<ApiAnswer> {
  const { request, endpoint, path } = step
  // Only a body can hold null.
  const input = isRead(endpoint) ? raw : withoutNulls({ ...endpoint.query, ...endpoint.body }, raw)
  const held: (() => void)[] = []
  const caller: Caller = {
    parts,
    counters,
    method: request.method,
    headers: request.headers,
    ip: request.ip,
    signal: request.signal,
    id: request.id,
    rawQuery: request.rawQuery,
    inProcess: makeInProcess(() => caller),
  }
  const own = {
    received: raw,
    url: parts.baseUrl + request.rawPath,
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
  }
  try {
    const { result, page } = await invoke(caller, { endpoint, path, input, own, ...admitted })
    const linkInput = { ...path, ...input }
    return present(parts, endpoint, result, page, linkMaker(parts.baseUrl, request, linkInput))
  } finally {
    for (const release of held) release()
  }
}

function present(
  parts: PipelineParts,
  endpoint: Endpoint,
  result: unknown,
  page: Page | NamesPage | undefined,
  link: (changes: Readonly<Record<string, string>>) => string,
): ApiAnswer {
  const check = checkOf(parts, endpoint)
  if (result instanceof JsonText) return presentText(endpoint, result, check)
  const answered = result instanceof Answer ? result : new Answer(result)
  const status = answered.status ?? endpoint.status
  if (endpoint.response && !(endpoint.response instanceof z.ZodType))
    return presentBytes(result as Bytes, status)
  if (answered.body === undefined) return { status, headers: answered.headers, body: null }
  const paged = endpoint.paginate ? (answered.body as Paged<unknown>) : undefined
  const value = paged ? paged.items : answered.body
  const body = JSON.stringify(value)
  if (status < 300) check?.(body)
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

/** Fails for a JSON text of another shape than the endpoint declares; undefined where shapes are not checked. */
function checkOf(parts: PipelineParts, endpoint: Endpoint): ((json: string) => void) | undefined {
  const schema = endpoint.response
  if (!parts.checkResponses || !(schema instanceof z.ZodType)) return undefined
  return (json) => {
    const read = schema.safeParse(JSON.parse(json))
    if (read.success) return
    const issues = read.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    throw new Error(
      `${endpoint.method} ${endpoint.path} answers another shape: ${issues.slice(0, 8).join('; ')}`,
    )
  }
}

function presentText(
  endpoint: Endpoint,
  { body, headers: more }: JsonText,
  check: ((json: string) => void) | undefined,
): ApiAnswer {
  const headers = { 'Content-Type': 'application/json', ...more }
  if (Buffer.isBuffer(body)) check?.(body.toString())
  const sent = check && !Buffer.isBuffer(body) ? Readable.from(checked(body, check)) : body
  return { status: endpoint.status, headers, body: sent }
}

/** Passes a text on, which fails at its end if it has another shape. */
async function* checked(text: Readable, check: (json: string) => void): AsyncGenerator<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of text) {
    pieces.push(Buffer.from(piece))
    yield Buffer.from(piece)
  }
  check(Buffer.concat(pieces).toString())
}
