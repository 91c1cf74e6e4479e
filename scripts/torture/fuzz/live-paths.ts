import { type Api, type ApiRecord, asRecords } from '../place/api.ts'
import type { Random } from '../random.ts'
import { encode } from './odd-values.ts'
import type { Operation } from './operations.ts'

/** Paths of records that are there, by template. */
export interface LivePaths {
  /** Filled in with live values as far as they are known, with plain numbers and words for the rest. */
  pathFor(template: string, random: Random): string
}

const MOST = 4

/** Asks the lists that the document describes for the records behind each template. */
export async function findPaths(
  root: Api,
  operations: readonly Operation[],
  start: Readonly<Record<string, readonly string[]>>,
): Promise<LivePaths> {
  const known = new Map<string, readonly string[]>(Object.entries(start))
  const lists = new Set(
    operations.filter(({ method }) => method === 'GET').map(({ template }) => template),
  )
  for (const prefix of prefixesOf(operations)) {
    if (known.has(prefix)) continue
    const list = prefix.slice(0, prefix.lastIndexOf('/'))
    const name = prefix.slice(prefix.lastIndexOf('{') + 1, -1)
    const found: string[] = []
    for (const place of placesOf(list, known).slice(0, 2)) {
      const values = lists.has(list) ? await namesIn(root, place, name) : []
      const more = words[name] ?? []
      found.push(...[...values, ...more].map((value) => `${place}/${value}`))
    }
    if (found.length > 0) known.set(prefix, found)
  }
  return { pathFor: (template, random) => fill(template, known, random) }
}

/** Values that no list has. */
const words: Readonly<Record<string, readonly string[]>> = {
  file_path: ['README.md', 'dir%2Fa.txt'],
  noteable: ['issues', 'merge_requests', 'snippets'],
  format: ['zip', 'tar.gz', 'tar.bz2'],
  type: ['issues', 'merge_requests', 'licenses'],
  trigger: ['push_events', 'issues_events'],
  email: ['invited%40example.com'],
  ref: ['main'],
}

/** Everything in a template up to one of its parameters, shorter ones first. */
function prefixesOf(operations: readonly Operation[]): string[] {
  const found = new Set<string>()
  for (const { template, base } of operations) {
    if (base !== '/api/v4') continue
    const parts = template.split('/')
    parts.forEach((part, at) => {
      if (/^\{\w+\}$/.test(part)) found.add(parts.slice(0, at + 1).join('/'))
    })
  }
  return [...found].sort((one, other) => one.split('/').length - other.split('/').length)
}

/** Where the list of a prefix is, for each of the records above it that are known. */
function placesOf(list: string, known: ReadonlyMap<string, readonly string[]>): string[] {
  const last = list.lastIndexOf('}')
  if (last < 0) return [list]
  const above = known.get(list.slice(0, last + 1)) ?? []
  return above.map((path) => path + list.slice(last + 1))
}

async function namesIn(root: Api, place: string, name: string): Promise<string[]> {
  const { status, body } = await root.call('GET', `${place}?per_page=${MOST}`)
  if (status !== 200) return []
  const own = name.slice(name.lastIndexOf('_') + 1)
  const fields = [name, own, 'id', 'iid', 'name', 'slug', 'key']
  return asRecords(body)
    .slice(0, MOST)
    .flatMap((record) => firstOf(record, fields))
}

function firstOf(record: ApiRecord, fields: readonly string[]): string[] {
  for (const field of fields) {
    const value = record[field]
    if (typeof value === 'number') return [String(value)]
    if (typeof value === 'string' && value !== '') return [encode(value)]
  }
  return []
}

function fill(
  template: string,
  known: ReadonlyMap<string, readonly string[]>,
  random: Random,
): string {
  for (let end = template.lastIndexOf('}'); end >= 0; end = template.lastIndexOf('}', end - 1)) {
    const found = known.get(template.slice(0, end + 1))
    if (found === undefined || found.length === 0) continue
    return random.pick(found) + withWords(template.slice(end + 1), random)
  }
  return withWords(template, random)
}

function withWords(rest: string, random: Random): string {
  return rest.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const choices = words[name]
    return choices ? random.pick(choices) : String(random.integer(1, 3))
  })
}
