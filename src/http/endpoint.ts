import type { Readable } from 'node:stream'
import type { z } from 'zod'
import type { Condition } from '../access/conditions.ts'
import { sourceWord } from '../access/sources.ts'
import type { Access } from '../access/subjects.ts'
import type { NamesPage, OffsetPage, Page, Paged } from '../base/page.ts'
import type { Ctx } from '../ctx.ts'
import type { ClientProtocol } from './client-protocol.ts'

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
export type Shape = Readonly<Record<string, z.ZodType>>

type Read<S> = S extends Shape
  ? z.infer<z.ZodObject<{ -readonly [K in keyof S]: S[K] }>>
  : Record<never, never>

/**
 * `:name` segments of a path. A segment may begin or end with fixed text: `archive.:format`, `:sha.diff`. `*name` takes several
 * segments.
 */
type NamesOf<P extends string> = P extends `${infer Segment}/${infer Rest}`
  ? NameIn<Segment> | NamesOf<Rest>
  : NameIn<P>

type NameIn<S extends string> = S extends `${string}:${infer Name}`
  ? Name extends `${infer Bare}.${string}`
    ? Bare
    : Name
  : S extends `*${infer Name}`
    ? Name
    : never

/** Keyset lists: the orders that the list knows; the first is the default. */
export interface KeysetSpec {
  readonly keyset: readonly string[]
  readonly defaultSort: 'asc' | 'desc'
  /** The list is offset paged unless `pagination=keyset` asks otherwise; false: keyset only. */
  readonly offset?: boolean
  /** Name of the resource in the refusal of a too large offset (docs/contract/A-resolved §5); absent: no maximum offset. */
  readonly type?: string
}

/**
 * Lists of names: offset paged, or with `pagination=keyset` behind the name in `page_token`; with `whole` also all at
 * once by `pagination=none` (docs/contract/B-resolved §1.1, §4).
 */
export interface NamesSpec {
  readonly token: 'page_token'
  readonly whole?: true
}

export type Paginate = 'offset' | KeysetSpec | NamesSpec

/** Values of parameters by name, as they come over the wire. */
type Values = Readonly<Record<string, unknown>>

/**
 * Runs endpoints within a request of a page, through the same steps as over HTTP (`http/call/in-process`). `call` and `may` of
 * `http/call/call` are the typed forms.
 */
export interface InProcess {
  /** What the endpoint answers, as plain data; throws the `Problem` that it refuses with. */
  run(
    ctx: Ctx,
    endpoint: Endpoint,
    input: { readonly path: Readonly<Record<string, string>>; readonly given: Values },
  ): Promise<unknown>
  /** Whether the caller may call the endpoint on this subject, as far as that is known before the body is. */
  admits(
    ctx: Ctx,
    endpoint: Endpoint,
    input: { readonly path: Readonly<Record<string, string>>; readonly given: Values },
  ): Promise<boolean>
}

/** Facts of the request that a handler gets beside its parameters. */
export interface RequestFacts {
  readonly method: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly ip: string
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal
  /** Raised when the server is about to stop: whoever only waits is answered then. */
  readonly stopping: AbortSignal
  /** The body as it arrives, for endpoints that are declared `raw`; read already in all others. */
  readonly body: Readable
  /**
   * The whole body as bytes, of at most `maxBody`, for endpoints that are declared `raw`: held within the server's
   * budget until the answer. Any content encoding of the web is unpacked.
   */
  payload(): Promise<Buffer>
  /** Keys that the caller really sent, so that updates change only those. */
  readonly sent: ReadonlySet<string>
  /** All parameters of query and body as they came, also those that the endpoint does not declare. */
  readonly received: Readonly<Record<string, unknown>>
  /** The request's own absolute URL below the external URL. */
  readonly url: string
  /** Its query, raw, without `?`. */
  readonly rawQuery: string
  /** Its name in the log. */
  readonly id: string
  /** What `call` needs to run other endpoints within this request, for pages alone. */
  readonly inProcess: InProcess
  /** Counts the request against a limit that only some requests of an endpoint meet; 429 beyond it. */
  countAgainst(limit: RateLimit, subject: string | number): void
}

/** A streamed or raw answer; `type` is its content type. */
export interface Bytes {
  readonly body: Readable | Buffer | string
  readonly type: string
  readonly headers?: Readonly<Record<string, string>> | undefined
  readonly status?: number | undefined
}

/** Marks an endpoint that answers bytes instead of JSON. */
export interface BytesResponse {
  readonly bytes: string
}

/** `response: bytes('application/zip')`: the handler gives `Bytes`. */
export function bytes(type: string): BytesResponse {
  return { bytes: type }
}

/** An answer with a status or headers of its own; the body is checked as any other. */
export class Answer<T> {
  readonly body: T
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  constructor(body: T, more: { status?: number; headers?: Readonly<Record<string, string>> } = {}) {
    this.body = body
    this.status = more.status
    this.headers = more.headers ?? {}
  }
}

/** A JSON answer that is too large to build as data: its text, whole or as a stream, in the shape of the response schema. */
export class JsonText {
  readonly body: Readable | Buffer
  readonly headers: Readonly<Record<string, string>>
  constructor(body: Readable | Buffer, headers: Readonly<Record<string, string>> = {}) {
    this.body = body
    this.headers = headers
  }
}

type Handled<R, G> = R extends BytesResponse
  ? Bytes
  : R extends z.ZodType
    ? G extends Paginate
      ? Paged<z.input<R> extends readonly (infer Item)[] ? Item : never> | JsonText
      : z.input<R> | Answer<z.input<R>> | JsonText
    : // biome-ignore lint/suspicious/noConfusingVoidType: a handler with nothing to say returns nothing
      void | Answer<undefined>

type PageOf<G> = G extends 'offset'
  ? OffsetPage
  : G extends NamesSpec
    ? NamesPage
    : G extends KeysetSpec
      ? Page
      : undefined

type Awaitable<T> = T | Promise<T>

/** An endpoint as one object: everything about it is read from here (docs/architecture). */
export interface Declaration<
  P extends string,
  S,
  N extends Shape | undefined,
  Q extends Shape | undefined,
  B extends Shape | undefined,
  R extends z.ZodType | BytesResponse | undefined,
  G extends Paginate | undefined,
  O extends string,
> {
  readonly method: Method
  readonly path: P
  /** A form of the path with the same parameters that some clients send, beside it: what `path` names goes first. */
  readonly otherPath?: string
  /** The path is below the server itself, as `/oauth/token`, and not below `/api/v4`. */
  readonly host?: true
  /**
   * Browsers may call it by the session of who is signed in: files that pages show, and (`only`, no token counts) pages and
   * forms; never the API.
   */
  readonly session?: true | 'only'
  /** The session counts even while its user must do something first: what does just that. */
  readonly whileDue?: boolean
  /** The endpoint reads its credentials itself (OAuth clients, browsers); the caller comes as anonymous. */
  readonly ownSignIn?: true
  readonly summary: string
  /**
   * Where the API reference lists it, when not with the others of its module (`manifest.ts`); `:source` stands for
   * `projects` or `groups`, whichever form it is.
   */
  readonly tags?: readonly string[]
  readonly access: Access<S, O>
  /** Scopes of which a token needs one; `api`, and `read_api` for reads, by default. `any`: whatever the scope. */
  readonly scopes?: readonly string[]
  /** Job tokens may call it (docs/contract/D §2.5). */
  readonly jobToken?: true
  /** Deploy tokens with one of these scopes may call it. */
  readonly deployToken?: readonly string[]
  readonly params?: N
  readonly query?: Q
  readonly body?: B
  /** What only some may ask for in the parameters: judged in this order after validation, before the handler. */
  readonly conditions?: readonly Condition<
    { readonly ctx: Ctx; readonly body: Read<B>; readonly query: Read<Q> } & S
  >[]
  /** A check over several parameters: gives the texts of what is wrong (`a, b are mutually exclusive`). */
  readonly check?: (sent: ReadonlySet<string>) => readonly string[]
  readonly paginate?: G
  readonly response?: R
  /** 201 for POST and 200 for others by default; 204 without a response. */
  readonly status?: number
  /** Largest body in bytes, when it is not the common limit. */
  readonly maxBody?: number
  /** The handler reads the body itself, as `request.body`, after the caller was admitted: it may be of any size. */
  readonly raw?: true
  /** Pages of any origin may call it: it knows no cookies, and its callers show a key of their own. */
  readonly anyOrigin?: true
  /** Package managers and the like: how they sign in, and the words in which they want refusals. */
  readonly client?: ClientProtocol
  /** What an instance may lack: then 404. */
  readonly offered?: { readonly setting: string }
  /** Requests a minute for one caller and subject (docs/contract/A-resolved §6, action limits). */
  readonly limit?: RateLimit
  readonly handler: (
    given: {
      readonly ctx: Ctx
      readonly params: Read<N>
      readonly query: Read<Q>
      readonly body: Read<B>
      readonly page: PageOf<G>
      readonly request: RequestFacts
    } & S,
  ) => Awaitable<Handled<R, G>>
}

export interface RateLimit {
  readonly name: string
  /** 0 means no limit. */
  readonly perMinute: number
  /** How long a window is in which requests are counted: a minute by default. */
  readonly seconds?: number
  /** The application setting that holds the number instead. */
  readonly setting?: LimitSetting | undefined
  readonly scope: 'address' | 'caller' | 'caller_and_subject'
  /** What was asked for too often, in the refusal: `This endpoint` by default. */
  readonly thing?: string | undefined
}

/** Application settings that are a number of requests in a minute; 0 means no limit. */
export type LimitSetting =
  | 'issues_create_limit'
  | 'notes_create_limit'
  | 'members_delete_limit'
  | `${'project' | 'group'}_${'export' | 'import'}_limit`

/** A limit whose number administrators set. */
export function perMinuteAsSet(
  setting: LimitSetting,
  scope: RateLimit['scope'] = 'caller',
): RateLimit {
  return { name: setting.replace(/_limit$/, ''), perMinute: 0, setting, scope }
}

export function perMinute(
  name: string,
  count: number,
  scope: RateLimit['scope'] = 'caller',
): RateLimit {
  return { name, perMinute: count, scope }
}

type AnyDeclaration = Declaration<
  string,
  unknown,
  Shape,
  Shape,
  Shape,
  z.ZodType | BytesResponse | undefined,
  Paginate | undefined,
  string
>

/** A declaration with its types put away: what routing, the pipeline, OpenAPI and contract tests work on. */
export interface Endpoint extends Omit<AnyDeclaration, 'access' | 'conditions' | 'handler'> {
  readonly access: Access<unknown, string>
  readonly tags: readonly string[]
  readonly scopes: readonly string[]
  readonly deployToken: readonly string[]
  readonly conditions: readonly Condition<never>[]
  readonly params: Shape
  readonly query: Shape
  readonly body: Shape
  readonly status: number
  readonly handler: (given: Record<string, unknown>) => Awaitable<unknown>
}

declare const callTypes: unique symbol

/** An endpoint whose parameters and data the compiler still knows: what `call` (http/call/call) takes. Exists for the compiler alone. */
export interface TypedEndpoint<Names extends string, Query, Body, Data> extends Endpoint {
  readonly [callTypes]?: {
    readonly names: Names
    readonly query: Query
    readonly body: Body
    readonly data: Data
  }
}

/** The values of a request to an endpoint, as `call` takes them: each is validated as if it had come over HTTP. */
export type InputOf<E> =
  E extends TypedEndpoint<infer Names, infer Query, infer Body, unknown>
    ? {
        readonly path: Readonly<Record<Names, string | number>>
        readonly query?: { readonly [K in keyof Query | keyof Body | PagingName]?: unknown }
        readonly body?: { readonly [K in keyof Query | keyof Body]?: unknown }
      }
    : never

type PagingName = 'page' | 'per_page' | 'pagination' | 'page_token' | 'cursor' | 'order_by' | 'sort'

/** What an endpoint answers with, as plain data: of a list its page with the facts of paging. */
export type DataOf<E> = E extends TypedEndpoint<string, unknown, unknown, infer Data> ? Data : never

type AnsweredData<R, G> = R extends BytesResponse
  ? Bytes
  : R extends z.ZodType
    ? G extends Paginate
      ? Paged<z.output<R> extends readonly (infer Item)[] ? Item : z.output<R>>
      : z.output<R>
    : undefined

type MissingParams<P extends string, S, N, O> = Exclude<NamesOf<P>, keyof N | O | AccessParam<S>>
// Access objects own `:id` (or `:user_id` where the declaration says so); the compiler asks for the others.
type AccessParam<S> = S extends
  | { project: unknown }
  | { group: unknown }
  | { source: unknown }
  | { wiki: unknown }
  ? 'id'
  : never

/** Declares one endpoint. The compiler asks for a schema in `params` for each `:name` that access does not own. */
export function endpoint<
  const P extends string,
  S,
  N extends Shape | undefined = undefined,
  Q extends Shape | undefined = undefined,
  B extends Shape | undefined = undefined,
  R extends z.ZodType | BytesResponse | undefined = undefined,
  const G extends Paginate | undefined = undefined,
  O extends string = never,
>(
  declaration: Declaration<P, S, N, Q, B, R, G, O> &
    ([MissingParams<P, S, N, O>] extends [never]
      ? unknown
      : { readonly params: Readonly<Record<MissingParams<P, S, N, O>, z.ZodType>> }),
): TypedEndpoint<NamesOf<P>, Q, B, AnsweredData<R, G>> {
  const reads = declaration.method === 'GET' || declaration.method === 'HEAD'
  const answered = declaration.method === 'POST' ? 201 : 200
  return {
    tags: [],
    scopes: reads ? ['api', 'read_api'] : ['api'],
    deployToken: [],
    conditions: [],
    query: {},
    body: {},
    status: declaration.response ? answered : 204,
    ...declaration,
    params: { ...declaration.access.params, ...declaration.params },
    // The types are put away here, and brought back by nobody: the pipeline builds exactly what the declaration asks.
    handler: declaration.handler as unknown as Endpoint['handler'],
  }
}

/** The endpoints that a declaration stands for: one, or those of a project and of a group for `/:source/:id/…`. */
export function formsOf(declared: Endpoint): readonly Endpoint[] {
  const { forms } = declared.access
  if (!forms) return [declared]
  return (['projects', 'groups'] as const).map((kind) => ({
    ...declared,
    path: declared.path.replace('/:source/', `/${kind}/`),
    summary: declared.summary.replace('project or group', sourceWord[kind]),
    tags: declared.tags.map((tag) => (tag === ':source' ? kind : tag)),
    access: forms[kind],
  }))
}
