import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OffsetPage } from '../../src/base/page.ts'
import { Problem } from '../../src/base/problem.ts'
import { pageHeaders, readPage } from '../../src/http/paging.ts'

const link = (changes: Readonly<Record<string, string>>) =>
  `https://git.example/x?${new URLSearchParams(changes)}`

/** What a page of a list of `total` items carries, and its headers. */
function pageOf(total: number, page: OffsetPage, counted = true) {
  const from = Math.min(page.offset, total)
  const items = Array.from({ length: Math.min(page.perPage, total - from) }, (_, i) => from + i)
  const paged = counted ? { items, total } : { items, more: from + items.length < total }
  return { items, headers: pageHeaders(page, paged, link) }
}

function relsOf(headers: Record<string, string>): Record<string, string> {
  const found = [...(headers.Link ?? '').matchAll(/<([^>]+)>; rel="(\w+)"/g)]
  return Object.fromEntries(
    found.map(([, url = '', rel = '']) => [rel, new URL(url).searchParams.get('page') ?? '']),
  )
}

const offset = (number: number, perPage: number): OffsetPage => ({
  kind: 'offset',
  number,
  perPage,
  offset: (number - 1) * perPage,
})

describe('pages by number, whatever their size', () => {
  test('lead by `next` through each item once, forwards and by `prev` back again', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 150 }),
        fc.integer({ min: 1, max: 100 }),
        fc.boolean(),
        (total, perPage, counted) => {
          const seen: number[] = []
          const numbers: string[] = []
          const told: unknown[] = []
          for (let at: string | undefined = '1'; at !== undefined; ) {
            numbers.push(at)
            const { items, headers } = pageOf(total, offset(Number(at), perPage), counted)
            seen.push(...items)
            const { next } = relsOf(headers)
            told.push([headers['X-Page'] === at, headers['X-Next-Page'] === (next ?? '')])
            at = next
          }
          expect(told).toEqual(numbers.map(() => [true, true]))
          expect(seen).toEqual(Array.from({ length: total }, (_, i) => i))
          const back: string[] = []
          for (let at = numbers.at(-1); at !== undefined; ) {
            back.push(at)
            at = relsOf(pageOf(total, offset(Number(at), perPage), counted).headers).prev
          }
          expect(back).toEqual(numbers.reverse())
        },
      ),
      { numRuns: 50 },
    )
  })

  test('name their relations in one order, and `first` always', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 20_000 }),
        fc.integer({ min: 1, max: 100 }),
        fc.integer({ min: 1, max: 500 }),
        (total, perPage, number) => {
          const { headers } = pageOf(total, offset(number, perPage))
          const rels = Object.keys(relsOf(headers))
          const order = ['prev', 'next', 'first', 'last']
          expect(rels).toEqual(order.filter((rel) => rels.includes(rel)))
          expect(relsOf(headers).first).toBe('1')
          expect(rels.includes('prev')).toBe(number > 1)
        },
      ),
    )
  })

  test('tell a total of ten thousand and none above, `last` alike, and one page at least', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 12_000 }),
        fc.integer({ min: 1, max: 100 }),
        (total, perPage) => {
          const { headers } = pageOf(total, offset(1, perPage))
          const isCounted = total <= 10_000
          expect('X-Total' in headers).toBe(isCounted)
          expect('X-Total-Pages' in headers).toBe(isCounted)
          expect(relsOf(headers).last).toBe(isCounted ? headers['X-Total-Pages'] : undefined)
          if (!isCounted) return
          expect(headers['X-Total']).toBe(String(total))
          const pages = Number(headers['X-Total-Pages'])
          expect(pages).toBeGreaterThanOrEqual(1)
          expect(pages * perPage).toBeGreaterThanOrEqual(total)
          expect((pages - 1) * perPage).toBeLessThan(Math.max(total, 1))
        },
      ),
      {
        examples: [
          [0, 20],
          [10_000, 100],
          [10_001, 100],
          [20, 20],
          [21, 20],
        ],
      },
    )
  })

  test('of which a full one is the last know no next one when the list says so', () => {
    const { headers } = pageOf(40, offset(2, 20), false)
    expect([headers['X-Next-Page'], Object.keys(relsOf(headers))]).toEqual(['', ['prev', 'first']])
  })

  test('keep the links that a client needs most when their addresses are very long', () => {
    const long = (changes: Readonly<Record<string, string>>) =>
      `${link(changes)}&q=${'x'.repeat(5000)}`
    const headers = pageHeaders(offset(3, 20), { items: [1], total: 200 }, long)
    expect(Buffer.byteLength(headers.Link ?? '')).toBeLessThan(16_000)
    expect(Object.keys(relsOf(headers))).toEqual(['prev', 'next'])
    expect(headers['X-Total']).toBe('200')
  })
})

describe('the page that is asked for', () => {
  const refusal = (input: Record<string, unknown>): unknown => {
    try {
      return readPage('offset', input, 50_000)
    } catch (error) {
      return error instanceof Problem ? [error.status, error.body] : error
    }
  }

  test('is the first one of twenty unless something else is said', () => {
    for (const input of [{}, { page: '', per_page: '' }, { pagination: 'keyset' }]) {
      expect(readPage('offset', input, 50_000)).toEqual(offset(1, 20))
    }
  })

  test.each([
    [{ per_page: '100' }, 100],
    [{ per_page: '101' }, 100],
    [{ per_page: 1e9 }, 100],
    [{ per_page: '+5' }, 5],
    [{ per_page: '007' }, 7],
  ])('%j holds %i', (input, perPage) => {
    expect(readPage('offset', input, 50_000)).toMatchObject({ perPage })
  })

  test.each([
    [{ per_page: '0' }, 'per_page has a value not allowed'],
    [{ per_page: 0 }, 'per_page has a value not allowed'],
    [{ per_page: '-1' }, 'per_page does not have a valid value'],
    [{ page: '0' }, 'page does not have a valid value'],
    [{ page: '-3' }, 'page does not have a valid value'],
    [{ page: '9007199254740993' }, 'page is invalid'],
    [{ page: String(2 ** 53) }, 'page is invalid'],
    [{ page: '1e3' }, 'page is invalid'],
    [{ page: '1.5' }, 'page is invalid'],
    [{ page: '١' }, 'page is invalid'],
    [{ page: ' 1' }, 'page is invalid'],
    [{ page: ['1'] }, 'page is invalid'],
    [{ page: { a: '1' } }, 'page is invalid'],
    [{ page: true }, 'page is invalid'],
    [{ per_page: 'many' }, 'per_page is invalid'],
  ])('%j is refused', (input, error) => {
    expect(refusal(input)).toEqual([400, { error }])
  })

  test('is read or refused with one of these sentences, whatever it is', () => {
    fc.assert(
      fc.property(fc.anything(), fc.anything(), (page, per_page) => {
        const found = refusal({ page, per_page })
        if (!Array.isArray(found)) {
          const { number, perPage, offset: from } = found as OffsetPage
          expect(perPage >= 1 && perPage <= 100 && number >= 1).toBe(true)
          expect(from).toBe((number - 1) * perPage)
          return
        }
        expect(found[0]).toBe(400)
        expect(found[1].error).toMatch(
          /^(page|per_page) (is invalid|does not have a valid value|has a value not allowed)$/,
        )
      }),
    )
  })
})

describe('a keyset page', () => {
  const list = { keyset: ['id', 'name'], defaultSort: 'asc', type: 'User' } as const
  const read = (input: Record<string, unknown>) =>
    readPage(list, { pagination: 'keyset', ...input }, 50_000)

  test('begins behind what the link before it carries, in the same order', () => {
    fc.assert(
      fc.property(
        fc.record({ id: fc.nat().map(String), name: fc.string() }),
        fc.constantFrom('id', 'name'),
        fc.constantFrom('asc', 'desc'),
        (after, order_by, sort) => {
          const page = read({ order_by, sort, per_page: '2' })
          const headers = pageHeaders(page, { items: [1, 2], next: after }, link)
          expect(Object.keys(headers)).toEqual(['Link'])
          const [, url = ''] = /^<([^>]+)>; rel="next"$/.exec(headers.Link ?? '') ?? []
          const cursor = new URL(url).searchParams.get('cursor')
          expect(cursor).toMatch(/^[\w-]+$/)
          expect(read({ order_by, sort, cursor })).toMatchObject({ kind: 'keyset', after })
        },
      ),
    )
  })

  test('that is the last one has no header at all', () => {
    expect(pageHeaders(read({}), { items: [1] }, link)).toEqual({})
  })

  test('is refused with 405 in another order or direction, with 400 for a cursor that is none', () => {
    const status = (input: Record<string, unknown>) => {
      try {
        read(input)
        return 200
      } catch (error) {
        return error instanceof Problem ? error.status : error
      }
    }
    for (const input of [{ order_by: 'created_at' }, { sort: 'up' }, { order_by: ['id'] }])
      expect(status(input)).toBe(405)
    const cursorOf = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    for (const value of [
      null,
      [],
      'x',
      {},
      { id: 5, _o: 'id asc' },
      { id: '5' },
      { id: '5', _o: 'id desc' },
      { name: 'a', _o: 'id asc' },
      { id: '5', _o: 'id asc', __proto__: null, more: {} },
    ])
      expect([value, status({ cursor: cursorOf(value) })]).toEqual([value, 400])
    expect(status({ cursor: cursorOf({ id: '5', _o: 'id asc' }) })).toBe(200)
    expect(status({ cursor: 'x'.repeat(5000) })).toBe(400)
  })

  test('takes any cursor at all as one of ours or as 400', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.json()), (cursor) => {
        try {
          expect(read({ cursor })).toMatchObject({ kind: 'keyset' })
        } catch (error) {
          expect(error).toMatchObject({ status: 400, body: { error: 'cursor is invalid' } })
        }
      }),
    )
  })
})
