import { describe, expect, test } from 'vitest'
import { PatternBudget } from '../../../src/base/patterns/budget.ts'
import { parseExpression } from '../../../src/ci/config/expression.ts'
import { withVariables } from '../../../src/ci/config/variable-scope.ts'
import { expandText } from '../../../src/ci/config/variables.ts'

const variables = new Map([
  ['BRANCH', 'feature/one'],
  ['EMPTY', ''],
  ['YES', 'true'],
  ['PATTERN', '/^feature/'],
])

async function holds(text: string): Promise<boolean | undefined> {
  return await parseExpression(text)?.({ variables, patterns: new PatternBudget() })
}

describe('conditions', () => {
  test.each([
    ['$BRANCH', true],
    ['$EMPTY', false],
    ['$MISSING', false],
    ['$MISSING == null', true],
    ['$EMPTY == null', false],
    ['$EMPTY == ""', true],
    [`$YES == 'true'`, true],
    ['$YES == "true" && $MISSING', false],
    ['$MISSING || $YES', true],
    ['$YES || $YES && $MISSING', true],
    ['($YES || $YES) && $MISSING', false],
    ['!$MISSING', true],
    ['!($YES && $BRANCH)', false],
    ['$BRANCH =~ /^feature\\//', true],
    ['$BRANCH !~ /^feature\\//', false],
    ['$BRANCH =~ /^FEATURE/i', true],
    ['$BRANCH =~ $PATTERN', true],
    ['$MISSING =~ /x/', false],
    ['"a" != "b"', true],
  ])('%s is %s', async (text, expected) => {
    expect(await holds(text)).toBe(expected)
  })

  test.each([
    '',
    `$\{A} == "a"`,
    '$A ==',
    '== "a"',
    '$A &&',
    '($A',
    '$A $B',
    'word',
    '$A == "open',
  ])('%s is no condition', (text) => {
    expect(parseExpression(text)).toBeUndefined()
  })

  test('a pattern that takes for ever elsewhere is answered at once', async () => {
    const text = `"${'a'.repeat(5000)}!" =~ /^(a+)+$/`
    expect(await holds(text)).toBe(false)
  })
})

describe('variables', () => {
  test('are put into texts in all three forms, and unknown ones stay', () => {
    expect(expandText(`$A $\{A} %A% $$A $B`, new Map([['A', '1']]))).toBe('1 1 1 $A $B')
  })

  test('use each other in whatever order they are written', () => {
    const found = withVariables(new Map([['A', 'a']]), [
      { key: 'C', value: '$B!', raw: false },
      { key: 'B', value: '$A$A', raw: false },
      { key: 'RAW', value: '$A', raw: true },
      { key: 'A', value: '$A+', raw: false },
    ])
    const values = ['A', 'B', 'C', 'RAW'].map((name) => found.get(name))
    expect(values).toEqual(['a+', 'a+a+', 'a+a+!', '$A'])
  })

  test('that need each other come to an end', () => {
    const found = withVariables(new Map(), [
      { key: 'A', value: '$B', raw: false },
      { key: 'B', value: '$A', raw: false },
    ])
    expect([found.get('A'), found.get('B'), found.has('C')]).toEqual(['$B', '$A', false])
  })
})
