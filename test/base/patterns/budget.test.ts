import { describe, expect, test } from 'vitest'
import { PatternBudget } from '../../../src/base/patterns/budget.ts'
import { patternFault } from '../../../src/base/patterns/check.ts'
import { matchesShort, patternMatcher } from '../../../src/base/patterns/compiled.ts'
import { globPattern } from '../../../src/base/patterns/glob.ts'
import {
  PatternLimitError,
  PatternSyntaxError,
  slashedPattern,
} from '../../../src/base/patterns/pattern.ts'

/** Each letter of a text is compared with hundreds of places of the pattern. */
const costly = { source: 'a[ab]{900}[0-9]' }
const text = (length: number) => 'ab'.repeat(length / 2)

/** How often the event loop turns while something is awaited. */
async function turnsDuring(work: Promise<unknown>): Promise<number> {
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  }, 1)
  await work.finally(() => clearInterval(timer))
  return turns
}

describe('a pattern', () => {
  test.each([
    ['a{1000}', undefined],
    ['a{1000}'.repeat(36), /^is too large/],
    [`(${'(a{10}){10}'}){20}`, /^is too large/],
    ['('.repeat(5), /^is an invalid regular expression/],
    ['(?=a)', /^is an invalid regular expression/],
  ])('%s is checked when it is set', (source, fault) => {
    const found = patternFault({ source })
    if (fault === undefined) expect(found).toBeUndefined()
    else expect(found).toMatch(fault)
  })

  test('that is too large is compared with nothing', async () => {
    const large = { source: 'a{1000}'.repeat(36) }
    const budget = new PatternBudget()
    await expect(budget.test(large, 'a')).rejects.toMatchObject({ limit: 'size' })
    await expect(budget.testEach([large], ['a'])).rejects.toMatchObject({ limit: 'size' })
    await expect(budget.testAny(large, ['a'])).rejects.toMatchObject({ limit: 'size' })
    expect(() => patternMatcher(large)).toThrow(PatternLimitError)
  })

  test('that is none says so, also from a worker', async () => {
    const broken = { source: `${'a'.repeat(300)}(` }
    await expect(new PatternBudget().test(broken, 'a')).rejects.toThrow(PatternSyntaxError)
    await expect(new PatternBudget().test({ source: '(' }, 'a')).rejects.toThrow(PatternSyntaxError)
  })

  test('may stand between slashes', () => {
    expect(slashedPattern('/a b/i')).toEqual({ source: 'a b', flags: 'i' })
    expect(slashedPattern('a/b')).toEqual({ source: 'a/b' })
  })
})

test.each([
  [{ source: 'b+' }, 'abba', true],
  [{ source: 'b+', whole: true }, 'abba', false],
  [{ source: 'a|abba', whole: true }, 'abba', true],
  [{ source: '^B$', flags: 'im' }, 'a\nb\nc', true],
  [{ source: '^b$', flags: '' }, 'a\nb\nc', false],
  [{ source: 'a.b', flags: 's' }, 'a\nb', true],
  [globPattern('src/**/*.{ts,js}'), 'src/a/b/c.js', true],
  [globPattern('src/*.ts'), 'src/a/b.ts', false],
])('%j and %j: %s, at once and in a worker', async (pattern, given, fits) => {
  expect(matchesShort(pattern, given)).toBe(fits)
  expect(patternMatcher(pattern)(given)).toBe(fits)
  const budget = new PatternBudget()
  expect(await budget.test(pattern, given)).toBe(fits)
  const many = Array.from({ length: 5000 }, () => given)
  expect(await budget.testEach([pattern], many)).toEqual(many.map(() => fits))
  expect(await budget.testAny(pattern, many)).toBe(fits)
})

describe('what a text costs', () => {
  test('is bounded by its length and the size of the pattern', async () => {
    const begun = new PatternBudget().test(costly, text(800_000))
    await expect(begun).rejects.toMatchObject({ limit: 'work' })
  })

  test('is paid by a worker: others get their turn meanwhile', async () => {
    const turns = await turnsDuring(new PatternBudget().test(costly, text(40_000)))
    expect(turns).toBeGreaterThan(5)
  })

  test('is counted together with all else that one budget compares', async () => {
    const budget = new PatternBudget()
    expect(await budget.test(costly, text(40_000))).toBe(false)
    await expect(budget.test(costly, text(40_000))).rejects.toMatchObject({ limit: 'work' })
  })

  test('is small for very many comparisons that are small: still others get their turn', async () => {
    const budget = new PatternBudget()
    const compare = async () => {
      for (let at = 0; at < 3000; at += 1)
        await budget.test({ source: `^x{${at % 100}}y` }, text(200))
    }
    expect(await turnsDuring(compare())).toBeGreaterThan(5)
  })

  test('ends at a limit of time, after which nothing more is compared', async () => {
    const budget = new PatternBudget({ timeoutMs: 1 })
    const texts = Array.from({ length: 50 }, () => text(40_000))
    await expect(budget.testEach([costly], texts)).rejects.toMatchObject({ limit: 'time' })
    await expect(budget.testEach([costly], texts)).rejects.toMatchObject({ limit: 'time' })
  })
})

test('a list that is asked about twice is compared once', async () => {
  const budget = new PatternBudget({ timeoutMs: 60_000 })
  const paths = Array.from({ length: 20_000 }, (_, at) => `src/folder/${at}.ts`)
  const first = budget.testAny(globPattern('docs/**/*'), paths)
  expect(await budget.testAny(globPattern('docs/**/*'), paths)).toBe(await first)
  expect(await budget.testAny(globPattern('src/**/19999.ts'), paths)).toBe(true)
})
