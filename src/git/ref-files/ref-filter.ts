import { PatternBudget } from '../../base/patterns/budget.ts'
import { PatternLimitError, PatternSyntaxError } from '../../base/patterns/pattern.ts'
import type { OpenRepository } from '../engine/open-repository.ts'
import { GitError } from '../error.ts'
import type { Ref } from '../types.ts'
import { refsOf } from './ref-table.ts'

export interface RefFilter {
  /** Part of the name, any case; `^` at the start and `$` at the end tie it there. */
  readonly search?: string | undefined
  /** A regular expression in RE2's syntax. */
  readonly regex?: string | undefined
}

export interface RefPage {
  readonly offset?: number | undefined
  /** Only what follows the ref of this short name in the order asked for. */
  readonly after?: string | undefined
  readonly limit?: number | undefined
}

/** Which short names of branches or tags pass a filter (docs/contract/B-resolved §4). */
export async function namesPassing(
  filter: RefFilter,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const found = names.filter(searchTest(filter.search))
  const { regex } = filter
  if (regex === undefined || regex === '') return new Set(found)
  try {
    const fits = await new PatternBudget().testEach([{ source: regex }], found)
    return new Set(found.filter((_, at) => fits[at]))
  } catch (error) {
    if (error instanceof PatternSyntaxError) {
      throw new GitError('invalid', 'the regular expression is not understood')
    }
    if (!(error instanceof PatternLimitError)) throw error
    throw new GitError('invalid', `the regular expression ${error.message}`)
  }
}

function searchTest(search: string | undefined): (name: string) => boolean {
  if (search === undefined || search === '') return () => true
  const [, start, text = '', end] = /^(\^?)(.*?)(\$?)$/s.exec(search.toLowerCase()) ?? []
  if (start && end) return (name) => name.toLowerCase() === text
  if (start) return (name) => name.toLowerCase().startsWith(text)
  if (end) return (name) => name.toLowerCase().endsWith(text)
  return (name) => name.toLowerCase().includes(text)
}

/** The refs below a prefix that pass a filter, by their short names. */
export async function namedRefs(
  repository: OpenRepository,
  prefix: string,
  filter: RefFilter,
): Promise<readonly Ref[]> {
  const table = refsOf(repository)
  table.assertWhole(prefix)
  const refs = table
    .list(prefix)
    .map((ref) => ({ name: ref.name.slice(prefix.length), id: ref.id }))
  if (!filter.search && !filter.regex) return refs
  const names = await namesPassing(
    filter,
    refs.map((ref) => ref.name),
  )
  return refs.filter((ref) => names.has(ref.name))
}

/** The part of an ordered list that a page asks for; `invalid` when its token names nothing. */
export function pageOf<Item extends { readonly name: string }>(
  items: readonly Item[],
  page: RefPage,
): { items: readonly Item[]; more: boolean } {
  let from = page.offset ?? 0
  if (page.after !== undefined && page.after !== '') {
    from = items.findIndex((item) => item.name === page.after) + 1
    if (from === 0) throw new GitError('invalid', 'the page token names no ref')
  }
  const found = items.slice(from, page.limit === undefined ? undefined : from + page.limit)
  return { items: found, more: from + found.length < items.length }
}

/**
 * Order of version numbers: runs of digits count as numbers, and `1.0` comes before `1.0.1` but after
 * `1.0-rc1`.
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [partsOf(a), partsOf(b)]
  for (let i = 0; i < Math.max(left.length, right.length); i += 1) {
    const order = compareParts(left[i], right[i])
    if (order !== 0) return order
  }
  return 0
}

function partsOf(version: string): string[] {
  return version.match(/\d+|[^\d.]+/g) ?? []
}

function compareParts(a: string | undefined, b: string | undefined): number {
  if (a === undefined) return missing(b)
  if (b === undefined) return -missing(a)
  const [aDigits, bDigits] = [/^\d/.test(a), /^\d/.test(b)]
  if (aDigits !== bDigits) return aDigits ? 1 : -1
  if (!aDigits) return a < b ? -1 : Number(a > b)
  const [x, y] = [a.replace(/^0+(?=\d)/, ''), b.replace(/^0+(?=\d)/, '')]
  return x.length - y.length || (x < y ? -1 : Number(x > y))
}

/** How a version that ends compares with one that goes on: less, unless a word (a pre-release) follows. */
function missing(next: string | undefined): number {
  return next !== undefined && /^\d/.test(next) ? -1 : 1
}
