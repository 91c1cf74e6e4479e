import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { anyone } from '../../src/access/subjects.ts'
import { readForm } from '../../src/http/body/form.ts'
import { endpoint } from '../../src/http/endpoint.ts'
import { linkMaker } from '../../src/http/links.ts'
import { withoutNulls } from '../../src/http/null-input.ts'
import {
  atLeastOne,
  csv,
  day,
  decimal,
  filledText,
  flag,
  hash,
  id,
  instant,
  integer,
  list,
  oneOf,
  oneOfNumbers,
  text,
  textHash,
} from '../../src/http/params.ts'
import { Router } from '../../src/http/router.ts'
import { validate } from '../../src/http/validate.ts'

const limits = { parameters: 1000, formDepth: 32 }
const read = (schema: z.ZodType, raw: unknown) => {
  const { value, wrong } = validate({ x: schema }, { x: raw })
  return wrong.length > 0 ? wrong.join() : value.x
}

describe('each kind of parameter', () => {
  test('a flag is one of these words in any case, and nothing else is one', () => {
    const on = ['true', 't', '1', 'yes', 'y', 'on']
    const off = ['false', 'f', '0', 'no', 'n', 'off', '']
    const cased = (word: string) => [
      word,
      word.toUpperCase(),
      word.slice(0, 1).toUpperCase() + word.slice(1),
    ]
    for (const word of on.flatMap(cased)) expect(read(flag(), word)).toBe(true)
    for (const word of off.flatMap(cased)) expect(read(flag(), word)).toBe(false)
    fc.assert(
      fc.property(fc.string({ maxLength: 6 }), (word) => {
        const expected = on.includes(word.toLowerCase())
          ? true
          : off.includes(word.toLowerCase())
            ? false
            : 'x is invalid'
        expect(read(flag(), word)).toBe(expected)
      }),
    )
    for (const value of [2, -1, 0.5, Number.NaN, [], {}, [true]])
      expect([value, read(flag(), value)]).toEqual([value, 'x is invalid'])
    expect([read(flag(), 1), read(flag(), 0), read(flag(), null)]).toEqual([true, false, false])
  })

  test('a whole number is itself as text and as JSON, within its bounds', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), (n) => {
        expect(read(integer(), n)).toBe(n)
        // Sixteen digits are enough for all that are exact.
        expect(read(integer(), String(n))).toBe(n)
        const bounded = read(integer({ min: -10, max: 10 }), n)
        expect(bounded).toBe(n >= -10 && n <= 10 ? n : 'x does not have a valid value')
      }),
    )
    for (const odd of [
      '',
      ' 1',
      '1 ',
      '1.0',
      '1e3',
      '0x10',
      '١',
      '--1',
      1.5,
      2 ** 53,
      Number.POSITIVE_INFINITY,
      true,
      [1],
      { a: 1 },
    ])
      expect([odd, read(integer(), odd)]).toEqual([odd, 'x is invalid'])
    expect(read(integer(), '+007')).toBe(7)
    expect([read(id(), '5'), read(id(), '-5')]).toEqual([5, -5])
    expect(read(oneOfNumbers([10, 20]), '20')).toBe(20)
    expect(read(oneOfNumbers([10, 20]), 30)).toBe('x does not have a valid value')
    expect(read(oneOfNumbers([10, 20]), 'ten')).toBe('x is invalid')
  })

  test('a number with a fraction has one dot and no exponent', () => {
    for (const [raw, value] of [
      ['1.5', 1.5],
      ['-0.25', -0.25],
      ['7', 7],
      [2.5, 2.5],
    ] as const)
      expect(read(decimal(), raw)).toBe(value)
    for (const raw of ['1.', '.5', '1e3', 'NaN', '', '1,5', Number.NaN])
      expect([raw, read(decimal(), raw)]).toEqual([raw, 'x is invalid'])
  })

  test('a text is any that is whole, up to so many characters, whatever they take in memory', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 12 }),
        fc.integer({ min: 1, max: 12 }),
        (value, max) => {
          const found = read(text({ max }), value)
          if (value.includes('\0')) expect(found).toBe('x is invalid')
          else if ([...value].length > max)
            expect(found).toBe(`x is too long (maximum is ${max} characters)`)
          else expect(found).toBe(value)
        },
      ),
      { numRuns: 60 },
    )
    expect(read(text({ max: 2 }), '😀😀')).toBe('😀😀')
    expect(read(text(), '\ud800')).toBe('x is invalid')
    expect(read(text(), 5)).toBe('5')
    for (const raw of [true, [], {}, Number.NaN]) expect(read(text(), raw)).toBe('x is invalid')
    for (const blank of ['', ' ', '\n\t']) expect(read(filledText(), blank)).toBe('x is empty')
    expect(read(filledText(), ' a ')).toBe(' a ')
  })

  test('a moment is the same in each zone and form, in UTC with milliseconds', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1971-01-01'), max: new Date('2099-12-31'), noInvalidDate: true }),
        fc.integer({ min: -12 * 60, max: 14 * 60 }),
        (date, minutes) => {
          const utc = date.toISOString()
          const local = new Date(date.getTime() + minutes * 60_000).toISOString().slice(0, -1)
          const sign = minutes < 0 ? '-' : '+'
          const two = (n: number) => String(Math.trunc(Math.abs(n))).padStart(2, '0')
          const zones = [`${sign}${two(minutes / 60)}:${two(minutes % 60)}`]
          zones.push(zones[0]?.replace(':', '') ?? '')
          for (const form of [
            utc,
            utc.replace('T', ' '),
            utc.slice(0, -1),
            ...zones.map((zone) => local + zone),
          ])
            expect([form, read(instant(), form)]).toEqual([form, utc])
          expect(read(day(), utc)).toBe(utc.slice(0, 10))
          expect(read(instant(), utc.slice(0, 10))).toBe(`${utc.slice(0, 10)}T00:00:00.000Z`)
        },
      ),
      { numRuns: 50 },
    )
  })

  test.each([
    '2026-02-30',
    '2026-13-01',
    '2026-00-10',
    '2026-1-1',
    '20260504',
    '04.05.2026',
    'today',
    '2026-05-04T25:00:00Z',
    '2026-05-04T10:61:00Z',
    '2026-05-04T10',
    '2026-05-04T10:00:00+2',
    '2026-05-04T10:00:00 02:00',
    '2026-05-04Z',
    '',
    1_777_888_999,
    null,
    ['2026-05-04'],
  ])('%j is no moment', (raw) => {
    expect(read(instant(), raw)).toBe('x is invalid')
  })

  test('a list comes as JSON, repeated, as one value or with commas, and has a longest', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(10_000), { maxLength: 8 }), (numbers) => {
        expect(read(csv(integer()), numbers)).toEqual(numbers)
        expect(read(csv(integer()), numbers.map(String))).toEqual(numbers)
        expect(read(csv(integer()), numbers.join(','))).toEqual(numbers)
        expect(read(csv(integer()), numbers.join(' , '))).toEqual(numbers)
        const repeated = numbers.map((n) => `x[]=${n}`).join('&')
        expect(read(csv(integer()), readForm(repeated, limits).x ?? [])).toEqual(numbers)
        const indexed = numbers.map((n, i) => `x[${i}]=${n}`).join('&')
        expect(read(csv(integer()), readForm(indexed, limits).x ?? [])).toEqual(numbers)
      }),
    )
    expect(read(list(text()), 'a,b')).toEqual(['a,b'])
    expect(read(csv(text()), 'a,,b,')).toEqual(['a', 'b'])
    expect(read(list(integer()), 7)).toEqual([7])
    expect(read(list(integer()), ['1', 'x'])).toBe('x is invalid')
    expect(read(list(oneOf(['a'])), ['b'])).toBe('x does not have a valid value')
    expect(read(list(text(), { max: 2 }), ['a', 'b', 'c'])).toBe('x is invalid')
    expect(read(list(text()), { a: 'b' })).toBe('x is invalid')
    expect([read(list(text()), null), read(list(text()), '')]).toEqual([[], []])
  })

  test('a hash keeps what it knows, and a free one takes texts alone and no prototype', () => {
    const known = hash({ a: integer(), b: text().optional() })
    expect(read(known, { a: '1', c: 'more' })).toEqual({ a: 1 })
    expect(read(known, { b: 'x' })).toBe('x[a] is missing')
    expect(read(known, 'text')).toBe('x is invalid')
    const free = read(textHash(), JSON.parse('{"a":"1","n":2,"__proto__":"y"}')) as object
    expect(Object.getPrototypeOf(free)).toBeNull()
    expect(Object.keys(free)).toEqual(expect.arrayContaining(['a', 'n']))
    expect(({} as Record<string, unknown>).y).toBeUndefined()
    for (const raw of [[], 'x', { a: {} }, { a: ['1'] }])
      expect(read(textHash(), raw)).toBe('x is invalid')
  })

  test('of several one has to be there, and which is said in one sentence', () => {
    const check = atLeastOne(['a', 'b'])
    expect(check(new Set(['b', 'c']))).toEqual([])
    expect(check(new Set(['c']))).toEqual([
      'a, b are missing, at least one parameter must be provided',
    ])
  })
})

describe('null', () => {
  const shape = {
    n: integer().optional(),
    t: text().optional(),
    c: text().nullish(),
    f: flag().optional(),
    d: day().nullish(),
    h: hash({ n: integer().optional(), c: integer().nullish() }).optional(),
    l: list(integer()).optional(),
  }
  test('and the empty text of a number or day are left out, clear, or are false, as the parameter is', () => {
    for (const empty of [null, '']) {
      const given = withoutNulls(shape, { n: empty, d: empty, h: { n: empty, c: empty } })
      expect(given).toEqual({ d: null, h: { c: null } })
    }
    const nulls = { t: null, c: null, f: null, unknown: null }
    expect(withoutNulls(shape, nulls)).toEqual({ c: null, f: null, unknown: null })
    expect(withoutNulls(shape, { t: '', c: '' })).toEqual({ t: '', c: '' })
  })

  test('changes nothing else, and what was given stays as it was', () => {
    fc.assert(
      fc.property(
        fc.record({ n: fc.option(fc.nat()), t: fc.option(fc.string()), x: fc.anything() }),
        (input) => {
          const before = structuredClone({ n: input.n, t: input.t })
          const given = withoutNulls(shape, input)
          expect({ n: input.n, t: input.t }).toEqual(before)
          expect(given.n).toBe(input.n ?? undefined)
          expect(given.t).toBe(input.t ?? undefined)
          expect(given.x).toBe(input.x)
        },
      ),
    )
  })
})

/** Values as forms can say them: texts, lists of them, and hashes. */
const word = fc.string({ unit: fc.constantFrom(...'abc äß&=+%#[]/?😀 \n"'), maxLength: 6 })
const key = fc.string({ unit: fc.constantFrom(...'abcdefg_'), minLength: 1, maxLength: 4 })
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    word,
    fc.array(word, { minLength: 1, maxLength: 3 }),
    fc.dictionary(key, tie('tree'), { minKeys: 1, maxKeys: 3, noNullPrototype: true }),
  ),
}))

function pairsOf(name: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((one) => pairsOf(`${name}[]`, one))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([inner, one]) => pairsOf(`${name}[${inner}]`, one))
  return [`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`]
}

describe('a form', () => {
  const input = fc.dictionary(key, tree, { maxKeys: 4, noNullPrototype: true })
  const plain = (value: unknown) => JSON.parse(JSON.stringify(value))

  test('says what was put into it, its brackets encoded or not', () => {
    fc.assert(
      fc.property(input, (given) => {
        const pairs = Object.entries(given).flatMap(([name, value]) => pairsOf(name, value))
        expect(plain(readForm(pairs.join('&'), limits))).toEqual(given)
        const bare = pairs.map((pair) => {
          const [name = '', value = ''] = pair.split('=')
          return `${name.replaceAll('%5B', '[').replaceAll('%5D', ']')}=${value.replaceAll('%20', '+')}`
        })
        expect(plain(readForm(bare.join('&'), limits))).toEqual(given)
      }),
      { numRuns: 60 },
    )
  })

  test('comes back from the links of pages just as it was', () => {
    const link = linkMaker('https://git.example', { rawPath: '/x' }, {})
    expect(link({})).toBe('https://git.example/x?per_page=20')
    fc.assert(
      fc.property(input, (given) => {
        const url = linkMaker('https://git.example', { rawPath: '/x' }, given)({ page: '3' })
        const expected = { ...given, page: '3', per_page: given.per_page || '20' }
        expect(plain(readForm(new URL(url).search.slice(1), limits))).toEqual(expected)
      }),
      { numRuns: 50 },
    )
  })

  test('is read or refused with 400, whatever its bytes are, and never reaches a prototype', () => {
    const bytes = fc.string({
      unit: fc.constantFrom(...'a[]=&%5BD+0.', '__proto__', 'constructor', '%ff'),
      maxLength: 30,
    })
    fc.assert(
      fc.property(bytes, (raw) => {
        try {
          expect(typeof readForm(raw, limits)).toBe('object')
        } catch (error) {
          expect(error).toMatchObject({ status: 400 })
        }
        expect(Object.keys(Object.prototype)).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  test('has so many parameters and so many brackets, and no more', () => {
    const many = (n: number) => Array.from({ length: n }, (_, i) => `a[]=${i}`).join('&')
    expect((readForm(many(1000), limits).a as unknown[]).length).toBe(1000)
    expect(() => readForm(many(1001), limits)).toThrow(
      'more than 1000 parameters are not supported',
    )
    const deep = (n: number) => `a${'[b]'.repeat(n)}=1`
    expect(readForm(deep(32), limits)).toHaveProperty('a')
    expect(() => readForm(deep(33), limits)).toThrow('parameters are nested too deeply')
    expect(() => readForm(deep(100_000), limits)).toThrow('parameters are nested too deeply')
  })
})

describe('a path', () => {
  const common = {
    summary: '',
    response: z.string(),
    handler: () => 'x',
    access: anyone(),
  } as const
  const router = new Router([
    endpoint({ ...common, method: 'GET', path: '/a/:x/b/:y', params: { x: text(), y: text() } }),
    endpoint({ ...common, method: 'PUT', path: '/a/:x/b/:y', params: { x: text(), y: text() } }),
    endpoint({ ...common, method: 'GET', path: '/a/:x/b/self', params: { x: text() } }),
    endpoint({ ...common, method: 'GET', path: '/f/*rest', params: { rest: text() } }),
  ])
  const segment = fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
    .filter((one) => !one.includes('\0'))

  test('gives its parameters as they were before they were encoded, whatever is in them', () => {
    fc.assert(
      fc.property(segment, segment, (x, y) => {
        const path = `/a/${encodeURIComponent(x)}/b/${encodeURIComponent(y)}`
        const found = router.find('GET', path)
        if (y === 'self') expect(found).toMatchObject({ kind: 'found', path: { x } })
        else expect(found).toMatchObject({ kind: 'found', path: { x, y } })
        expect(router.find('PUT', path)).toMatchObject({ kind: 'found', path: { x, y } })
        expect(router.find('DELETE', path)).toMatchObject({ kind: 'no_method' })
      }),
    )
  })

  test('of any length may be the rest, slashes and all', () => {
    fc.assert(
      fc.property(fc.array(segment, { minLength: 1, maxLength: 5 }), (segments) => {
        const rest = segments.map(encodeURIComponent).join('/')
        const found = router.find('GET', `/f/${rest}`)
        expect(found).toMatchObject({ kind: 'found', path: { rest: segments.join('/') } })
      }),
    )
  })

  test('is found, or not, and never a fault, whatever it is', () => {
    fc.assert(
      fc.property(fc.webPath(), fc.string(), (path, method) => {
        expect(['found', 'no_route', 'no_method']).toContain(router.find(method, path).kind)
      }),
    )
    for (const path of [
      '',
      '/',
      '//',
      '/a',
      '/a//b/',
      '/%',
      '/a/%ff/b/c',
      '/a/%00/b/c',
      '/constructor',
      '/__proto__',
    ])
      expect([path, router.find('GET', path).kind]).toEqual([path, 'no_route'])
  })
})
