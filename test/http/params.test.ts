import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readForm } from '../../src/http/body/form.ts'
import { csv, day, flag, hash, instant, integer, list, oneOf, text } from '../../src/http/params.ts'
import { validate } from '../../src/http/validate.ts'

describe('parameters', () => {
  test.each([
    ['integer', integer(), '12', 12],
    ['integer from JSON', integer(), 12, 12],
    ['true', flag(), 'on', true],
    ['null is false', flag(), null, false],
    ['empty is false', flag(), '', false],
    ['word', oneOf(['asc', 'desc']), 'asc', 'asc'],
    ['number as text', text(), 5, '5'],
    ['commas', csv(integer()), '1,2', [1, 2]],
    ['array', list(text()), ['a', 'b'], ['a', 'b']],
    ['day', day(), '2026-02-28', '2026-02-28'],
    ['offset', instant(), '2026-02-28T01:00:00+01:00', '2026-02-28T00:00:00.000Z'],
  ])('%s is read', (_, schema, raw, expected) => {
    expect(validate({ x: schema }, { x: raw })).toEqual({ value: { x: expected }, wrong: [] })
  })

  test.each([
    ['missing', text(), undefined, 'x is missing'],
    ['array for a text', text(), ['a'], 'x is invalid'],
    ['object for a text', text(), { a: 1 }, 'x is invalid'],
    ['NUL byte', text(), 'a\0b', 'x is invalid'],
    ['letters in a number', integer(), '123abc', 'x is invalid'],
    ['Arabic digits', integer(), '١', 'x is invalid'],
    ['huge number', integer(), '9007199254740993', 'x is invalid'],
    ['exponent', integer(), '1e3', 'x is invalid'],
    ['other word', oneOf(['asc']), 'up', 'x does not have a valid value'],
    ['maybe', flag(), 'maybe', 'x is invalid'],
    ['no such day', day(), '2026-02-30', 'x is invalid'],
    ['text for an array of numbers', csv(integer()), 'a,b', 'x is invalid'],
    ['plus read as a space', instant(), '2026-02-28T01:00:00 01:00', 'x is invalid'],
  ])('%s is refused', (_, schema, raw, expected) => {
    expect(validate({ x: schema }, raw === undefined ? {} : { x: raw }).wrong).toEqual([expected])
  })

  test('every fault is told, and nested ones by their full name', () => {
    const shape = { a: text(), b: integer(), c: hash({ d: text() }) }
    expect(validate(shape, { b: 'x', c: {} }).wrong).toEqual([
      'a is missing',
      'b is invalid',
      'c[d] is missing',
    ])
  })

  test('no value makes a parameter throw', () => {
    const shape = { x: integer(), y: list(text()), z: flag(), w: instant() }
    fc.assert(
      fc.property(fc.anything(), (raw) => {
        const { wrong } = validate(shape, { x: raw, y: raw, z: raw, w: raw })
        return wrong.every((one) => /^[xyzw]/.test(one))
      }),
    )
  })
})

describe('the query', () => {
  const limits = { parameters: 1000, formDepth: 32 }
  test.each([
    ['a[]=1&a[]=2', { a: ['1', '2'] }],
    ['a[k]=1', { a: { k: '1' } }],
    ['a[0][k]=1&a[1][k]=2', { a: [{ k: '1' }, { k: '2' }] }],
    ['a[][k]=1&a[][l]=2&a[][k]=3', { a: [{ k: '1', l: '2' }, { k: '3' }] }],
    ['a=1+2', { a: '1 2' }],
    ['a=1%2B2', { a: '1+2' }],
    ['__proto__[x]=1&b=2', { b: '2' }],
  ])('%s', (raw, expected) => {
    expect(readForm(raw, limits)).toEqual(expected)
  })
  test('refuses a broken percent sequence', () => {
    expect(() => readForm('a=%ff', limits)).toThrow()
  })
})
