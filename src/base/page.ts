/** One page of an offset list: `number` counts from 1, `offset` rows are skipped. */
export interface OffsetPage {
  readonly kind: 'offset'
  readonly number: number
  readonly perPage: number
  readonly offset: number
}

/** One page of a keyset list. `after` holds what the cursor of the previous page said; absent on the first page. */
export interface KeysetPage {
  readonly kind: 'keyset'
  readonly perPage: number
  readonly orderBy: string
  readonly sort: 'asc' | 'desc'
  readonly after?: Readonly<Record<string, string>> | undefined
}

export type Page = OffsetPage | KeysetPage

/** One page of a list that goes on behind a name (trees, branches, tags); `after` is absent on the first page. */
export interface TokenPage {
  readonly kind: 'token'
  readonly perPage: number
  readonly after?: string | undefined
}

/** The whole list at once, without any headers. */
export interface WholePage {
  readonly kind: 'whole'
}

/** How lists of names are asked for: by number, behind a name, or whole. */
export type NamesPage = OffsetPage | TokenPage | WholePage

/**
 * What a list gives back. Offset lists: `total` rows in all, absent where totals are never given (then `more` says
 * whether a next page exists; without it a full page counts as one with a successor). Keyset lists: `next` is what the
 * next page's cursor has to carry, absent at the end; lists of names say it as `nextToken`.
 */
export interface Paged<T> {
  readonly items: readonly T[]
  readonly total?: number | undefined
  readonly more?: boolean | undefined
  readonly next?: Readonly<Record<string, string>> | undefined
  readonly nextToken?: string | undefined
}

/** One page of a list that is in memory. */
export function pageOf<T>(
  all: readonly T[],
  page: OffsetPage,
): { readonly items: readonly T[]; readonly total: number } {
  return { items: all.slice(page.offset, page.offset + page.perPage), total: all.length }
}

/** Above this many rows totals are neither counted nor given (docs/contract/A §Limits). */
export const COUNTED_ROWS = 10_000
