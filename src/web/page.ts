import type { ComponentChildren } from 'preact'
import type { z } from 'zod'
import { anyone } from '../access/subjects.ts'
import { Problem, unauthorized } from '../base/problem.ts'
import { type Bytes, bytes, type Endpoint, endpoint, type Shape } from '../http/endpoint.ts'
import { answerFor } from '../http/errors.ts'
import { text } from '../http/params.ts'
import { type NamesIn, namesIn } from './address.ts'
import { answerPage } from './answer.ts'
import type { RefusedForm } from './context.ts'
import { basePathOf, openPageCtx, type PageCtx } from './page-ctx.ts'
import { problemPage } from './problem-page.ts'
import { assertTermsSeen } from './terms.ts'

type Query<Q> = Q extends Shape ? z.infer<z.ZodObject<{ -readonly [K in keyof Q]: Q[K] }>> : unknown

/** What a page is asked: the values of its address, and its query. */
export type Given<P extends string, Q> = { readonly [K in NamesIn<P>]: string } & {
  readonly query: Query<Q>
}

/** Where a page stands in the navigation of its project, group, person or of the instance. */
export interface Place {
  readonly area: 'project' | 'group' | 'you' | 'admin' | 'top'
  readonly label: string
  readonly order: number
  readonly icon: string
}

export interface PageDeclaration<P extends string, Q extends Shape | undefined, D> {
  /** As the router reads it: `/*project/-/merge_requests/:iid`. */
  readonly address: P
  /** What the page is, in a few words: for the palette and the list of pages. */
  readonly summary: string
  readonly query?: Q
  /** Strangers are asked to sign in before anything is read. */
  readonly signedIn?: true
  /** Shown to those too who have not accepted the terms, as `whileDue` is. */
  readonly beforeTerms?: true
  /** Open even while the caller must do something before anything else: what does that. */
  readonly whileDue?: true
  readonly place?: Place
  /** The call of the API with the same data, below `/api/v4`: programs that ask for JSON here are sent there. */
  api?(given: Given<P, Q>, ctx: PageCtx): string | Promise<string>
  /** Calls endpoints, and gives plain data; the `Problem` of a call is the page's. */
  read(ctx: PageCtx, given: Given<P, Q>): Promise<D>
  /** What and where: `Fix the parser · !12 · ana/demo`. */
  title(data: D): string
  /** Plain data to markup; it fetches nothing. */
  view(data: D): ComponentChildren
}

/** A page: an endpoint that answers HTML, and what forms and navigation ask of it. */
export interface Page {
  readonly address: string
  readonly summary: string
  readonly place: Place | undefined
  readonly endpoint: Endpoint
  /** The page as an answer; with `refused` after a form that was refused. */
  show(
    ctx: PageCtx,
    given: Readonly<Record<string, unknown>>,
    refused?: RefusedForm,
  ): Promise<Bytes>
}

/** Declares a page: a view over endpoints at one address. */
export function page<const P extends string, Q extends Shape | undefined = undefined, D = unknown>(
  declared: PageDeclaration<P, Q, D>,
): Page {
  const show: Page['show'] = async (ctx, given, refused) => {
    if (declared.signedIn && ctx.actor.kind === 'anonymous') throw unauthorized()
    // The router and the query's schemas have read what the declaration names.
    const data = await declared.read(ctx, given as Given<P, Q>)
    return await answerPage(ctx, {
      title: declared.title(data),
      body: declared.view(data),
      refused: refused ?? null,
    })
  }
  const { api } = declared
  // The router and the query's schemas have read what the declaration names.
  const apiOf: ApiOf | undefined = api && ((ctx, given) => api(given as Given<P, Q>, ctx))
  return { ...declared, place: declared.place, show, endpoint: pageEndpoint(declared, show, apiOf) }
}

type ApiOf = (ctx: PageCtx, given: Readonly<Record<string, unknown>>) => string | Promise<string>

function asksForJson({ request }: PageCtx): boolean {
  const accepted = String(request.headers.accept ?? '')
  return accepted.includes('application/json') && !accepted.includes('text/html')
}

/** Sends a program to the call of the API. */
async function sendToApi(ctx: PageCtx, path: string): Promise<Bytes> {
  const headers = { Location: `${basePathOf(ctx)}/api/v4${path}`, Vary: 'Accept' }
  return { type: 'text/plain', status: 302, headers, body: '' }
}

/** The endpoint of a page or fragment: what a browser's session may ask for, and a `Problem` shown as a page. */
export function pageEndpoint(
  declared: {
    readonly address: string
    readonly summary: string
    readonly query?: Shape | undefined
    readonly beforeTerms?: true
    readonly whileDue?: boolean
  },
  show: (ctx: PageCtx, given: Readonly<Record<string, unknown>>) => Promise<Bytes>,
  apiOf?: ApiOf,
): Endpoint {
  return endpoint({
    method: 'GET',
    host: true,
    session: 'only',
    whileDue: declared.whileDue ?? false,
    path: declared.address,
    summary: declared.summary,
    access: anyone(),
    params: Object.fromEntries(namesIn(declared.address).map((name) => [name, text()])),
    query: declared.query ?? {},
    response: bytes('text/html'),
    async handler({ ctx: outer, params, query, request }) {
      const ctx = openPageCtx(outer, request, true)
      try {
        if (!declared.beforeTerms && !declared.whileDue) await assertTermsSeen(ctx)
        const given = { ...params, query }
        if (apiOf && asksForJson(ctx)) return await sendToApi(ctx, await apiOf(ctx, given))
        return await show(ctx, given)
      } catch (error) {
        if (!(error instanceof Problem) && answerFor(error).fault) throw error
        return await problemPage(ctx, error)
      }
    },
  })
}
