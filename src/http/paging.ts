import {
  COUNTED_ROWS,
  type NamesPage,
  type OffsetPage,
  type Page,
  type Paged,
} from '../base/page.ts'
import { badParameters, pagingRefused } from '../base/problem.ts'
import type { KeysetSpec, NamesSpec, Paginate } from './endpoint.ts'
import { fault, integer } from './params.ts'
import type { Input } from './read-input.ts'

const MAX_PER_PAGE = 100
export const DEFAULT_PER_PAGE = 20

/**
 * The page that a request asks for (docs/contract/A-resolved §5). `page * per_page` above `maxOffset` is refused where a
 * list knows keyset paging; 0 refuses none.
 */
export function readPage(paginate: Paginate, input: Input, maxOffset: number): Page | NamesPage {
  const perPage = Math.min(readCount(input.per_page, 'per_page', DEFAULT_PER_PAGE), MAX_PER_PAGE)
  if (paginate !== 'offset' && 'token' in paginate) {
    const named = readNamesPage(paginate, input, perPage)
    if (named) return named
  }
  const keyset = paginate !== 'offset' && 'keyset' in paginate ? paginate : undefined
  if (keyset && (input.pagination === 'keyset' || keyset.offset === false)) {
    return readKeyset(keyset, input, perPage)
  }
  const number = readCount(input.page, 'page', 1)
  if (keyset?.type && maxOffset > 0 && number * perPage > maxOffset) {
    throw pagingRefused(
      `Offset pagination has a maximum allowed offset of ${maxOffset} for requests that return objects of type ${keyset.type}. Remaining records can be retrieved using keyset pagination.`,
    )
  }
  return { kind: 'offset', number, perPage, offset: (number - 1) * perPage }
}

function readNamesPage(spec: NamesSpec, input: Input, perPage: number): NamesPage | undefined {
  if (spec.whole && input.pagination === 'none') return { kind: 'whole' }
  if (input.pagination !== 'keyset') return undefined
  const token = input.page_token
  if (token === undefined || token === '') return { kind: 'token', perPage }
  if (typeof token !== 'string' || token.length > 16_384)
    throw badParameters('page_token is invalid')
  return { kind: 'token', perPage, after: token }
}

const count = integer()

function readCount(raw: unknown, name: 'page' | 'per_page', preset: number): number {
  if (raw === undefined || raw === '') return preset
  const read = count.safeParse(raw)
  if (!read.success) throw badParameters(`${name} ${fault.invalid.text}`)
  if (read.data === 0 && name === 'per_page')
    throw badParameters('per_page has a value not allowed')
  if (read.data < 1 || read.data > 2 ** 40) throw badParameters(`${name} ${fault.notAllowed.text}`)
  return read.data
}

function readKeyset(spec: KeysetSpec, input: Input, perPage: number): Page {
  const orderBy = input.order_by ?? spec.keyset[0]
  const sort = input.sort ?? spec.defaultSort
  if (
    typeof orderBy !== 'string' ||
    !spec.keyset.includes(orderBy) ||
    (sort !== 'asc' && sort !== 'desc')
  ) {
    throw pagingRefused('Keyset pagination is not yet available for this type of request')
  }
  return { kind: 'keyset', perPage, orderBy, sort, after: readCursor(input, orderBy, sort) }
}

function readCursor(
  input: Input,
  orderBy: string,
  sort: string,
): Readonly<Record<string, string>> | undefined {
  if (input.cursor === undefined || input.cursor === '') return undefined
  if (typeof input.cursor !== 'string' || input.cursor.length > 4096)
    throw badParameters('cursor is invalid')
  const value = decodeCursor(input.cursor)
  // A cursor of another order, or of another list, is no cursor of this one.
  const fits =
    value !== null && value._o === `${orderBy} ${sort}` && 'id' in value && orderBy in value
  if (!fits) throw badParameters('cursor is invalid')
  const { _o: _, _kd: __, ...after } = value
  return after
}

function decodeCursor(cursor: string): Record<string, string> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null
    return Object.values(value).every((inner) => typeof inner === 'string')
      ? (value as Record<string, string>)
      : null
  } catch {
    return null
  }
}

/** The opaque text of a cursor: `after` with the order that it belongs to. */
function encodeCursor(
  after: Readonly<Record<string, string>>,
  orderBy: string,
  sort: string,
): string {
  return Buffer.from(JSON.stringify({ ...after, _o: `${orderBy} ${sort}`, _kd: 'n' })).toString(
    'base64url',
  )
}

/**
 * `Link` and `x-` headers of a list answer. `link` makes the absolute URL with the parameters of the request, and these
 * put in: `per_page` stays as it was asked for, also above what a page holds (docs/contract/A-resolved §5).
 */
export function pageHeaders(
  page: Page | NamesPage,
  paged: Paged<unknown>,
  link: (parameters: Readonly<Record<string, string>>) => string,
): Record<string, string> {
  if (page.kind === 'whole') return {}
  if (page.kind === 'token') return tokenHeaders(paged, link)
  if (page.kind === 'keyset') {
    if (!paged.next) return {}
    const cursor = encodeCursor(paged.next, page.orderBy, page.sort)
    return { Link: `<${link({ cursor })}>; rel="next"` }
  }
  return offsetHeaders(page, paged, link)
}

function tokenHeaders(
  paged: Paged<unknown>,
  link: (parameters: Readonly<Record<string, string>>) => string,
): Record<string, string> {
  if (paged.nextToken === undefined) return {}
  const next = link({ page_token: paged.nextToken })
  return { Link: `<${next}>; rel="next"` }
}

function offsetHeaders(
  page: OffsetPage,
  paged: Paged<unknown>,
  link: (parameters: Readonly<Record<string, string>>) => string,
): Record<string, string> {
  const counted = paged.total !== undefined && paged.total <= COUNTED_ROWS ? paged.total : undefined
  const pages = counted === undefined ? undefined : Math.max(1, Math.ceil(counted / page.perPage))
  const hasNext =
    pages === undefined ? (paged.more ?? paged.items.length === page.perPage) : page.number < pages
  const to = (number: number, rel: string) => `<${link({ page: String(number) })}>; rel="${rel}"`
  const links = [
    ...(page.number > 1 ? [to(page.number - 1, 'prev')] : []),
    ...(hasNext ? [to(page.number + 1, 'next')] : []),
    to(1, 'first'),
    ...(pages === undefined ? [] : [to(pages, 'last')]),
  ]
  return {
    Link: withinHeader(links),
    'X-Next-Page': hasNext ? String(page.number + 1) : '',
    'X-Page': String(page.number),
    'X-Per-Page': String(page.perPage),
    'X-Prev-Page': page.number > 1 ? String(page.number - 1) : '',
    ...(counted === undefined
      ? {}
      : { 'X-Total': String(counted), 'X-Total-Pages': String(pages) }),
  }
}

/** Clients refuse answers with more than some 16 KB of headers; the longest queries cost the least needed links. */
const MAX_LINK = 12_000
const NEED = ['next', 'prev', 'first', 'last']

function withinHeader(links: readonly string[]): string {
  const rank = (link: string) => NEED.findIndex((rel) => link.endsWith(`rel="${rel}"`))
  let room = MAX_LINK
  const kept = new Set<string>()
  for (const link of [...links].sort((a, b) => rank(a) - rank(b))) {
    room -= link.length + 2
    if (room >= 0) kept.add(link)
  }
  return links.filter((link) => kept.has(link)).join(', ')
}
