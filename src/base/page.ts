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

/**
 * What a list gives back. Offset lists: `total` rows in all, absent where totals are never told (then `more` says
 * whether a next page exists; without it a full page counts as one with a successor). Keyset lists: `next` is what the
 * next page's cursor has to carry, absent at the end.
 */
export interface Paged<T> {
  readonly items: readonly T[]
  readonly total?: number | undefined
  readonly more?: boolean | undefined
  readonly next?: Readonly<Record<string, string>> | undefined
}

/** Above this many rows totals are neither counted nor told (spec A §Limits). */
export const COUNTED_ROWS = 10_000
