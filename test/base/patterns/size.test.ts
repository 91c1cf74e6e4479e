import fc from 'fast-check'
import { RE2JS } from 're2js'
import { expect, test } from 'vitest'
import { patternSize } from '../../../src/base/patterns/size.ts'
import { runs } from '../../support/runs.ts'

test.each([
  ['a', 3],
  ['a{1000}', 1000],
  ['((a{10}){10}){10}', 1000],
  [String.raw`\Qa{1000}\E`, 9],
  ['[(]a{1000}', 1000],
  ['[]a{1000}]', 4],
  [String.raw`\x{1000}`, 3],
])('%s compiles to some %i instructions', (source, about) => {
  expect(patternSize(source)).toBeGreaterThanOrEqual(about)
  expect(patternSize(source)).toBeLessThan(about * 3)
})

const piece = fc.constantFrom(
  ...[
    'a',
    '.',
    '(',
    ')',
    '|',
    '*',
    '+',
    '?',
    '{3}',
    '{2,}',
    '{0,4}',
    '[',
    ']',
    '^',
    '$',
    '-',
    ',',
    '{',
    '}',
    '1',
  ],
  ...[
    '(?:',
    '(?i)',
    '(?i:',
    '(?P<n>',
    '(?<m>',
    '[^a]',
    '[a-z]',
    '[[:alpha:]]',
    '[]a]',
    '[)(]',
    '[{3}]',
    '[\\]]',
  ],
  ...[
    '\\Q',
    '\\E',
    '\\pL',
    '\\p{Greek}',
    '\\x{41}',
    '\\d',
    '\\b',
    '\\\\',
    '\\(',
    '\\[',
    '{5}',
    '\n',
    'é',
    '😀',
  ],
)

test('no pattern compiles to more instructions than its size says', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
      const source = pieces.join('')
      const size = patternSize(source)
      let compiled: number
      try {
        compiled = RE2JS.compile(source).programSize()
      } catch {
        return
      }
      expect(size, source).toBeGreaterThanOrEqual(compiled)
    }),
    runs(100, 87, 20_000),
  )
})
