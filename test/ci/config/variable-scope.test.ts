import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { VariableScope, type WrittenVariable } from '../../../src/ci/config/variable-scope.ts'
import { expandText, namesIn } from '../../../src/ci/config/variables.ts'
import { Variables } from '../../../src/runner/variables.ts'

function written(values: Readonly<Record<string, string | Partial<WrittenVariable>>>) {
  return Object.entries(values).map(([key, given]) => ({
    key,
    value: typeof given === 'string' ? given : (given.value ?? ''),
    raw: false,
    ...(typeof given === 'string' ? {} : given),
  }))
}

/** What a runner is sent. */
function sent(values: Parameters<typeof written>[0]): Record<string, string | undefined> {
  const scope = new VariableScope(undefined, written(values))
  return Object.fromEntries(Object.keys(values).map((key) => [key, scope.sent(key)]))
}

describe('a runner is sent', () => {
  test.each<[string, Parameters<typeof written>[0], Record<string, string>]>([
    [
      'names in names in names, in whatever order',
      { C: 'C_$B', B: 'B_%A%', A: 'A', D: '%C%' },
      { C: 'C_B_A', B: 'B_A', A: 'A', D: 'C_B_A' },
    ],
    [
      'unknown names as they are written',
      { A: '$NO %NO%', B: 'b $A' },
      { A: '$NO %NO%', B: 'b $NO %NO%' },
    ],
    [
      'circles as they are written',
      { A: '$B', B: 'x$A', C: '$D', D: 'd' },
      { A: '$B', B: 'x$A', C: 'd', D: 'd' },
    ],
    [
      'what needs a circle, too',
      { A: '$B', B: '$A', C: '$D-$A', D: 'd' },
      { A: '$B', B: '$A', C: '$D-$A', D: 'd' },
    ],
    [
      'dollars that the runner makes one of',
      { A: '$$B', B: 'b', C: '<$A>', D: '$$$B' },
      { A: '$$B', B: 'b', C: '<$$B>', D: '$$b' },
    ],
    ['doubled percents', { A: '%%B%%', B: 'b' }, { A: '%%B%%', B: 'b' }],
    [
      'raw ones untouched, and for what they are in others',
      { A: 'a', R: { value: '$A 5$', raw: true }, B: 'b $R' },
      { A: 'a', R: '$A 5$', B: 'b $$A 5$$' },
    ],
    [
      'files by their names, and names put into files',
      { A: 'a', F: { value: 'secret $A', file: true }, B: '-s $F', C: '$B$F$A' },
      { A: 'a', F: 'secret a', B: '-s $F', C: `-s $\{F}$\{F}a` },
    ],
    [
      'the name of a variable in its own value, where nothing is below',
      { PATH: '/x:$PATH' },
      { PATH: '/x:$PATH' },
    ],
  ])('%s', (_name, values, expected) => {
    expect(sent(values)).toEqual(expected)
  })

  test('a value with what it lies over put in', () => {
    const [under] = written({ A: 'a$B' })
    const [over] = written({ A: '$A, $A' })
    if (!under || !over) throw new Error('none')
    const scope = new VariableScope(new Map([['A', 'first']]), [
      under,
      ...written({ B: 'b' }),
      over,
    ])
    expect([scope.sent('A'), scope.get('A')]).toEqual(['ab, ab', 'ab, ab'])
    const onMap = new VariableScope(new Map([['A', '$1']]), [over])
    expect([onMap.sent('A'), onMap.get('A')]).toEqual(['$$1, $$1', '$1, $1'])
  })

  test('a chain of very many names', () => {
    const links = Array.from({ length: 10_000 }, (_, at) => [`A${at}`, at ? `$A${at - 1}` : 'end'])
    const scope = new VariableScope(undefined, written(Object.fromEntries(links)))
    expect(scope.get('A9999')).toBe('end')
  })
})

test('texts of a configuration get no content of a file', () => {
  const scope = new VariableScope(
    undefined,
    written({ F: { value: 'secret', file: true }, A: 'a', B: '$F/$A' }),
  )
  expect(expandText('review/$B/$F/$A $$A', scope)).toBe('review/$F/a/$F/a $A')
  expect([scope.get('F'), scope.isFile('F'), scope.isFile('B')]).toEqual(['secret', true, false])
})

const names = ['A', 'B', 'C', 'D', 'E']
const piece = fc.oneof(
  fc.constantFrom('x', ' ', '$$', '/', '{', '}'),
  fc.constantFrom(...names, 'NONE').map((name) => `\${${name}}`),
  fc.constantFrom(...names, 'NONE').map((name) => `$${name}`),
)
const anyVariables = fc.tuple(
  ...names.map((key) =>
    fc.record({
      key: fc.constant(key),
      value: fc.array(piece, { maxLength: 5 }).map((parts) => parts.join('')),
      raw: fc.nat(5).map((at) => at === 0),
      file: fc.nat(5).map((at) => at === 0),
    }),
  ),
)

/** What a stock runner makes of the variables that it is sent: names are put in once, `$$` is a dollar. */
function stockRunner(given: readonly WrittenVariable[]): Record<string, string> {
  const byKey = new Map(given.map((one) => [one.key, one]))
  const put = (mark: string, braced?: string, plain?: string) => {
    if (mark === '$$') return '$'
    const one = byKey.get(braced ?? plain ?? '')
    if (!one) return ''
    return one.file ? `/files/${one.key}` : one.value
  }
  return Object.fromEntries(
    given.map(({ key, value, raw, file }) => [
      key,
      file
        ? `/files/${key}`
        : raw
          ? value
          : value.replaceAll(/\$\$|\$\{(\w+)\}|\$([A-Za-z_]\w*)/g, put),
    ]),
  )
}

/** Those that need themselves, or something that does, in whatever number of steps. */
function circular(given: readonly WrittenVariable[]): ReadonlySet<string> {
  const needs = new Map(given.map(({ key, value, raw }) => [key, raw ? [] : namesIn(value)]))
  const plain = new Set(given.filter(({ raw, file }) => !raw && !file).map(({ key }) => key))
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of needs.get(from) ?? []) {
      // Its own name means what is below.
      if (next === from || !plain.has(next) || seen.has(next)) continue
      seen.add(next)
      reach(next, seen)
    }
    return seen
  }
  const inCircle = (key: string) => reach(key).has(key)
  return new Set(names.filter((key) => inCircle(key) || [...reach(key)].some(inCircle)))
}

/** As `scope` sends them. */
function resolved(given: readonly WrittenVariable[]): WrittenVariable[] {
  const scope = new VariableScope(undefined, given)
  return given.map((one) => ({ ...one, value: scope.sent(one.key) ?? '' }))
}

test('runners that put names in once, or over and over, find the same', () => {
  fc.assert(
    fc.property(anyVariables, (given) => {
      const round = circular(given)
      const own = given.filter(({ key, value }) => value.includes(key))
      fc.pre(round.size === 0 && own.length === 0)
      const deep = new Variables(given, (key) => `/files/${key}`).environment()
      expect(stockRunner(resolved(given))).toEqual(deep)
      expect(new Variables(resolved(given), (key) => `/files/${key}`).environment()).toEqual(deep)
    }),
  )
})

test('circles are left alone, in whatever order somebody asks', () => {
  fc.assert(
    fc.property(anyVariables, fc.shuffledSubarray(names, { minLength: 5 }), (given, order) => {
      const scope = new VariableScope(undefined, given)
      const found = new Map(order.map((key) => [key, scope.sent(key)]))
      for (const { key, value } of resolved(given)) expect(found.get(key)).toBe(value)
      for (const key of circular(given)) {
        expect(found.get(key)).toBe(given.find((one) => one.key === key)?.value)
      }
    }),
  )
})
