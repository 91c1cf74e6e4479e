import type { ComponentChildren } from 'preact'
import type { Endpoint, Shape } from '../http/endpoint.ts'
import { answerFragment } from './answer.ts'
import { type Given, pageEndpoint } from './page.ts'

export interface FragmentDeclaration<P extends string, Q extends Shape | undefined, D> {
  readonly address: P
  readonly summary: string
  readonly query?: Q
  read(ctx: Parameters<Parameters<typeof pageEndpoint>[1]>[0], given: Given<P, Q>): Promise<D>
  view(data: D): ComponentChildren
  /** The page that it stands on: where its forms lead back to. */
  standsOn?(data: D): string
}

/**
 * A part of a page with an address of its own: for what is slow to find, and for what changes while a page is open. Without
 * script its address is a link.
 */
export function fragment<
  const P extends string,
  Q extends Shape | undefined = undefined,
  D = unknown,
>(declared: FragmentDeclaration<P, Q, D>): Endpoint {
  return pageEndpoint(declared, async (ctx, given) => {
    // The router and the query's schemas have read what the declaration names.
    const data = await declared.read(ctx, given as Given<P, Q>)
    return await answerFragment(ctx, declared.view(data), declared.standsOn?.(data))
  })
}
