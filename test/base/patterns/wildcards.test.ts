import fc from 'fast-check'
import { expect, test } from 'vitest'
import { patternMatcher } from '../../../src/base/patterns/compiled.ts'
import { wildcardPattern } from '../../../src/base/patterns/glob.ts'

const fitsWildcards = (wildcards: string, path: string) =>
  patternMatcher(wildcardPattern(wildcards))(path)

test.each([
  ['ci/*.yml', 'ci/a.yml', true],
  ['ci/*.yml', 'ci/.yml', true],
  ['ci/*.yml', 'ci/deep/a.yml', false],
  ['ci/**.yml', 'ci/a.yml', true],
  ['ci/**.yml', 'ci/deep/er/a.yml', true],
  ['ci/**/*.yml', 'ci/deep/a.yml', true],
  ['ci/**/*.yml', 'ci/a.yml', false],
  ['**/*.yml', 'a.yml', false],
  ['[ab].*', '[ab].yml', true],
  ['[ab].*', 'a.yml', false],
  ['a?.*', 'ab.yml', false],
  ['{a,b}.*', 'a.yml', false],
  ['*', 'a', true],
  ['*', '', true],
  ['a*a', 'a', false],
])('%s and %s: %s', (pattern, path, fits) => {
  expect(fitsWildcards(pattern, path)).toBe(fits)
})

test('wildcards mean what the regular expressions of them mean', () => {
  const text = fc.array(fc.constantFrom('*', 'a', 'b', '/', '.'), { maxLength: 8 })
  fc.assert(
    fc.property(text, text, (pattern, path) => {
      const source = pattern
        .join('')
        .replaceAll('.', '[.]')
        .replaceAll(/\*\*|\*/g, (stars) => (stars === '**' ? '.{0,}' : '[^/]{0,}'))
      const expected = new RegExp(`^(?:${source})$`).test(path.join(''))
      expect(fitsWildcards(pattern.join(''), path.join(''))).toBe(expected)
    }),
  )
})
