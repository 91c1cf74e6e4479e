import type { Ctx } from '../../ctx.ts'
import type { DataOf, Endpoint, InProcess, InputOf } from '../endpoint.ts'

/** A call of an endpoint, as a client would make it over HTTP. */
export interface MadeCall {
  readonly method: string
  /** Below `/api/v4`, with its query. */
  readonly path: string
}

/** The ctx of a page: it can call endpoints, and remembers which it called. */
export interface CallingCtx extends Ctx {
  readonly inProcess: InProcess
  readonly calls: MadeCall[]
}

/**
 * Calls an endpoint within the process as the caller of the page: the same subject, ability, validation, limits and conditions as
 * over HTTP. Gives the typed data; throws the `Problem` of a refusal.
 */
export async function call<E extends Endpoint>(
  endpoint: E,
  ctx: CallingCtx,
  input: InputOf<E>,
): Promise<DataOf<E>> {
  const { path, query, body } = loose(input)
  ctx.calls.push({ method: endpoint.method, path: addressOf(endpoint, path, query) })
  const given = { ...query, ...body }
  // The endpoint's declaration is where the type comes from.
  return (await ctx.inProcess.run(ctx, endpoint, { path, given })) as DataOf<E>
}

/** Whether the caller of the page may call the endpoint there: for buttons and links, asked of the same rules. */
export async function may<E extends Endpoint>(
  endpoint: E,
  ctx: CallingCtx,
  input: InputOf<E>,
): Promise<boolean> {
  const { path, query, body } = loose(input)
  return await ctx.inProcess.admits(ctx, endpoint, { path, given: { ...query, ...body } })
}

interface LooseInput {
  readonly path: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: Readonly<Record<string, unknown>>
}

function loose(input: unknown): LooseInput {
  const { path, query, body } = input as {
    path: Readonly<Record<string, string | number>>
    query?: Readonly<Record<string, unknown>>
    body?: Readonly<Record<string, unknown>>
  }
  const texts = Object.entries(path).map(([name, value]) => [name, String(value)] as const)
  return { path: Object.fromEntries(texts), query: given(query), body: given(body) }
}

/** What was given, without names whose value is undefined: those count as not sent. */
function given(values: Readonly<Record<string, unknown>> = {}): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function addressOf(
  endpoint: Endpoint,
  path: LooseInput['path'],
  query: LooseInput['query'] = {},
): string {
  const segments = endpoint.path.split('/').map((segment) => {
    const at = segment.startsWith('*') ? 0 : segment.indexOf(':')
    if (at < 0) return segment
    return segment.slice(0, at) + encodeURIComponent(path[segment.slice(at + 1)] ?? '')
  })
  const pairs = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    Array.isArray(value) ? value.map((one) => [`${name}[]`, String(one)]) : [[name, String(value)]],
  )
  const text = new URLSearchParams(pairs).toString()
  return segments.join('/') + (text === '' ? '' : `?${text}`)
}
