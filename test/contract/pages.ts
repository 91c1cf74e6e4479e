import { isDeepStrictEqual } from 'node:util'
import type { Endpoint } from '../../src/http/endpoint.ts'
import type { Caller, Reply } from '../support/world.ts'
import type { Question } from './ask.ts'

const most = 200

interface Walk {
  readonly items: readonly unknown[]
  readonly wrong: readonly string[]
}

function nextOf(reply: Reply): string | undefined {
  const url = /<([^>]+)>; rel="next"/.exec(reply.headers.get('link') ?? '')?.[1]
  return url?.replace(/^https?:\/\/[^/]+\/api\/v4/, '')
}

/** Goes through a list one item a page, by the links that it gives. */
async function walk(caller: Caller, first: Reply): Promise<Walk> {
  const items: unknown[] = []
  const wrong: string[] = []
  let reply = first
  for (let page = 1; page <= most; page++) {
    if (reply.status !== 200 || !Array.isArray(reply.body)) {
      return { items, wrong: [`page ${page}: ${reply.status}`] }
    }
    if (reply.body.length > 1) wrong.push(`page ${page} has ${reply.body.length} items`)
    items.push(...reply.body)
    const next = nextOf(reply)
    if (next === undefined) return { items, wrong }
    reply = await caller.get(next)
  }
  return { items, wrong: [...wrong, `has no end after ${most} pages`] }
}

/**
 * A whole list is one page of the largest size: of a longer one its beginning. A tree shows folders first within each page,
 * while its pages follow git's order: there the items are compared, not their order.
 */
function sameItems(
  walked: readonly unknown[],
  whole: readonly unknown[],
  { per_page }: { readonly per_page: string },
): boolean {
  const start = walked.slice(0, Number(per_page))
  return isTree(whole)
    ? isDeepStrictEqual(new Set(start), new Set(whole))
    : isDeepStrictEqual(start, whole)
}

function isTree(items: readonly unknown[]): boolean {
  return items.every((item) => typeof item === 'object' && item !== null && 'mode' in item)
}

/** Of a first page with one item; lists that are too long to count give no total. */
function offsetFaults({ headers, body }: Reply): string[] {
  const total = headers.get('x-total')
  const expected = Object.entries({
    'x-page': '1',
    'x-per-page': '1',
    'x-prev-page': '',
    ...(total === null ? {} : totalHeaders(Number(total))),
  })
  const wrong = expected
    .filter(([name, value]) => headers.get(name) !== value)
    .map(([name, value]) => `${name} is ${headers.get(name)}, not ${value}`)
  if (!/rel="first"/.test(headers.get('link') ?? '')) wrong.push('no link to the first page')
  if (total !== null && body?.length !== Math.min(1, Number(total))) {
    wrong.push(`${body?.length} items of ${total}`)
  }
  return wrong
}

function totalHeaders(total: number): Record<string, string> {
  return { 'x-next-page': total > 1 ? '2' : '', 'x-total-pages': String(Math.max(1, total)) }
}

/** What is wrong with the pages of a list, asked by somebody who may see it. */
export async function pageFaults(
  { paginate, query }: Endpoint,
  question: Question,
  caller: Caller,
): Promise<string[]> {
  if (paginate === undefined) return []
  const keysetOnly = paginate !== 'offset' && 'keyset' in paginate && paginate.offset === false
  // Few lists have a limit of their own on the size of a page, and the usual words for it.
  const ownLimit = query.per_page !== undefined
  const whole = { per_page: ownLimit ? '20' : '100' }
  const wrong: string[] = []
  if (!keysetOnly) wrong.push(...(await numberedFaults(question, caller, whole)))
  if (paginate !== 'offset') wrong.push(...(await keysetFaults(question, caller, whole)))
  for (const { name, value, says } of badPages) {
    if (keysetOnly && (name === 'page' || ownLimit)) continue
    const reply = await question.askWith(caller, { [name]: value })
    if (reply.status === 400 && reply.body?.error === says) continue
    wrong.push(`${name}=${value}: ${reply.status} ${JSON.stringify(reply.body).slice(0, 80)}`)
  }
  return wrong
}

async function numberedFaults(
  question: Question,
  caller: Caller,
  size: { readonly per_page: string },
): Promise<string[]> {
  const whole = await question.askWith(caller, size)
  const first = await question.askWith(caller, { per_page: '1' })
  const { items, wrong } = await walk(caller, first)
  const total = first.headers.get('x-total')
  return [
    ...offsetFaults(first),
    ...wrong,
    ...(sameItems(items, whole.body, size) ? [] : ['pages differ from the whole list']),
    ...(total === null || Number(total) === items.length
      ? []
      : [`x-total ${total} of ${items.length}`]),
  ]
}

async function keysetFaults(
  question: Question,
  caller: Caller,
  size: { readonly per_page: string },
): Promise<string[]> {
  const whole = await question.askWith(caller, { pagination: 'keyset', ...size })
  const first = await question.askWith(caller, { pagination: 'keyset', per_page: '1' })
  const { items, wrong } = await walk(caller, first)
  return [
    ...wrong.map((text) => `keyset: ${text}`),
    ...(sameItems(items, whole.body, size) ? [] : ['keyset pages differ from the whole list']),
    ...(whole.headers.get('x-total') === null ? [] : ['a keyset page with x-total']),
  ]
}

const badPages = [
  { name: 'per_page', value: 'x', says: 'per_page is invalid' },
  { name: 'per_page', value: '0', says: 'per_page has a value not allowed' },
  { name: 'page', value: 'x', says: 'page is invalid' },
  { name: 'page', value: '0', says: 'page does not have a valid value' },
] as const
