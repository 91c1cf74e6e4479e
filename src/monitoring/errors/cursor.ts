import { badParameters } from '../../base/problem.ts'
import type { Key } from '../../store/pages.ts'

/** Where a page ends, as an opaque text; `order` is what the list is sorted by. */
export function writeCursor(order: string, key: Key): string {
  return Buffer.from(JSON.stringify([order, key.value, key.id])).toString('base64url')
}

/** The place that a cursor means; 400 for a text that is none of this order. */
export function readCursor(order: string, cursor: string | undefined): Key | undefined {
  if (cursor === undefined || cursor === '') return undefined
  const value = parse(cursor)
  if (!Array.isArray(value) || value[0] !== order) throw badParameters('cursor is invalid')
  const [, at, id] = value
  const fits = (typeof at === 'string' || Number.isSafeInteger(at)) && Number.isSafeInteger(id)
  if (!fits) throw badParameters('cursor is invalid')
  return { value: at, id }
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'))
  } catch {
    return undefined
  }
}

/** The `Link` to the page that follows, with the parameters of this one. */
export function nextLink(
  url: string,
  query: Readonly<Record<string, unknown>>,
  cursor: string | undefined,
): Record<string, string> {
  if (cursor === undefined) return {}
  const pairs = Object.entries({ ...query, cursor })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, string] => [name, String(value)])
  return { Link: `<${url}?${new URLSearchParams(pairs)}>; rel="next"`, 'X-Next-Cursor': cursor }
}
