import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readJson } from '../../src/http/body/json.ts'

const limits = { jsonDepth: 100, jsonValues: 200_000 }

function read(value: unknown, more: Partial<typeof limits> = {}) {
  const bytes = Buffer.from(typeof value === 'string' ? value : JSON.stringify(value))
  return readJson(bytes, { ...limits, ...more }, () => {})
}

describe('a JSON body', () => {
  test('is what any parser makes of it, however long its strings are and whatever is escaped in them', async () => {
    const piece = fc.constantFrom(
      'x',
      'é',
      '\u{1f600}',
      '\\',
      '"',
      '\n',
      '\ud800',
      '\0',
      '\\u0041',
      '}',
    )
    const long = fc
      .tuple(fc.array(piece, { minLength: 1, maxLength: 9 }), fc.integer({ min: 1, max: 90_000 }))
      .map(([parts, times]) => parts.join('').repeat(times).slice(0, 700_000))
    await fc.assert(
      fc.asyncProperty(fc.array(long, { maxLength: 3 }), fc.json(), async (texts, small) => {
        const value = { texts, nested: { [texts[0]?.slice(0, 9000) ?? 'key']: texts[0] ?? null } }
        const json = `{"a": ${small}, "b" :${JSON.stringify(value)}}`
        const plain = JSON.parse(json)
        // Keys that could reach a prototype are left out.
        fc.pre(!/__proto__|constructor|prototype/.test(small))
        expect(await read(json)).toEqual(plain)
      }),
      { numRuns: 40 },
    )
  }, 60_000)

  test.each([
    ['a long text that does not end', `{"a":"${'x'.repeat(200_000)}`],
    ['a raw line end in a long text', `{"a":"${'x'.repeat(100_000)}\n${'x'.repeat(100_000)}"}`],
    ['half an escape at the end of a long text', `{"a":"${'x'.repeat(300_000)}\\u00"}`],
    ['two documents', `{"a":"${'x'.repeat(100_000)}"}{}`],
    ['a list', `["${'x'.repeat(100_000)}"]`],
    ['a text that looks like a mark', '"'.repeat(100_001)],
  ])('that is none is refused: %s', async (_, text) => {
    await expect(read(text)).rejects.toThrow('does not match declared format')
  })

  test('is refused for its depth or its number of values before it is parsed', async () => {
    const nest = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`
    await expect(read(nest(99))).resolves.toBeDefined()
    await expect(read(nest(100))).rejects.toThrow('nested too deeply')
    await expect(read(`{"a":${'['.repeat(20_000_000)}`)).rejects.toThrow('nested too deeply')
    await expect(read({ a: Array(200_001).fill(0) })).rejects.toThrow('more than 200000 values')
    await expect(read({ a: '[,{'.repeat(100_000) }, { jsonValues: 2 })).resolves.toBeDefined()
  })

  test.each([
    ['blanks', `{"a":1${' '.repeat(17_000_000)}}`],
    ['digits', `{"a":${'1'.repeat(17_000_000)}}`],
    ['a key', `{"${'a'.repeat(17_000_000)}":1}`],
  ])('is refused for %s without end before it is parsed', async (_, text) => {
    await expect(read(text)).rejects.toThrow('bytes outside of its texts')
  })

  test.each([
    ['one long text', () => `{"a":"${'x'.repeat(32_000_000)}"}`],
    ['quotes that are escaped', () => `{"a":"${'\\"'.repeat(2_000_000)}"}`],
    ['backslashes', () => `{"a":"${'\\\\'.repeat(8_000_000)}"}`],
    ['blanks', () => `{"a":1${' '.repeat(16_000_000)}}`],
  ])(
    'of many megabytes lets others have their turn: %s',
    async (_, make) => {
      const json = Buffer.from(make())
      let turns = 0
      let done = false
      const count = () => {
        turns += 1
        if (!done) setImmediate(count)
      }
      setImmediate(count)
      await readJson(json, limits, () => {}).finally(() => {
        done = true
      })
      expect(turns).toBeGreaterThan(0)
    },
    60_000,
  )
})
