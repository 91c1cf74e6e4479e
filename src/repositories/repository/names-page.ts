import type { NamesPage } from '../../base/page.ts'

/** The part of a list of names that a page asks for, as the engine takes it. */
export function rangeOf(page: NamesPage): {
  readonly offset?: number
  readonly after?: string | undefined
  readonly limit?: number
} {
  if (page.kind === 'whole') return {}
  return page.kind === 'token'
    ? { after: page.after, limit: page.perPage }
    : { offset: page.offset, limit: page.perPage }
}
