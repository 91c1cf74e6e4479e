import { describe, expect, test } from 'vitest'
import { resolveReferences } from '../../../src/ci/config/extend.ts'
import { readConfigFile, writeYaml } from '../../../src/ci/config/yaml.ts'

const limits = { maxBytes: 2_097_152, maxDepth: 100 }
const tooLarge = {
  fields: { base: ['Invalid configuration format: the configuration is too large'] },
}

/** The longest time in which nothing else could be done, in milliseconds. */
async function longestPause(act: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last)
    last = performance.now()
  }, 5)
  try {
    await act()
    return Math.max(longest, performance.now() - last)
  } finally {
    clearInterval(timer)
  }
}

describe('a large configuration', () => {
  test('holds up nobody while it is read, however it is made', async () => {
    // Each merge brings in all keys once more: this took minutes.
    const keys = Array.from({ length: 20_000 }, (_, at) => `k${at}: x`).join(', ')
    const merges = `a: &a {${keys}}\nb:\n${'- <<: *a\n'.repeat(5000)}`
    const pause = await longestPause(() =>
      expect(readConfigFile(merges, limits)).rejects.toMatchObject(tooLarge),
    )
    // It is some milliseconds; other work on the machine makes it more.
    expect(pause).toBeLessThan(1500)
  }, 30_000)

  test('is refused when its texts, each wherever it stands, come to more than is copied', async () => {
    const text = 'x'.repeat(500_000)
    const many = (item: string) => Array.from({ length: 50 }, () => item).join(', ')
    const aliases = `.a: &a "${text}"\n.b: [${many('*a')}]\n`
    await expect(readConfigFile(aliases, limits)).rejects.toMatchObject(tooLarge)
    const references = `.a: {s: "${text}"}\n.b: [${many('!reference [.a, s]')}]\n`
    const { content } = await readConfigFile(references, limits)
    expect(() => resolveReferences(content)).toThrow(expect.objectContaining(tooLarge))
    const keys = `.a: {s: {"${text}": 1}}\n.b: [${many('!reference [.a, s]')}]\n`
    const { content: withKeys } = await readConfigFile(keys, limits)
    expect(() => resolveReferences(withKeys)).toThrow(expect.objectContaining(tooLarge))
  })

  test('is read as a small one is', async () => {
    const filler = `# ${'x'.repeat(5000)}\n`
    const text = `.a: &a {script: [make, '08', 1.10, yes]}
b: {<<: *a, extends: .a, stage: test}
c: {script: [!reference [.a, script]], rules: [{if: $X == null, when: never}], __proto__: x}
`
    const large = await readConfigFile(filler + text, limits)
    // Short and without merges, it is read at once.
    const small = await readConfigFile(
      text.replace('<<: *a, ', "script: [make, '08', 1.10, yes], "),
      limits,
    )
    expect(large).toStrictEqual(small)
    expect(Object.isFrozen(large.content.b)).toBe(true)
    await expect(readConfigFile(`${filler}a: [`, limits)).rejects.toMatchObject({
      fields: { base: [expect.stringMatching(/^Invalid configuration format: .* at line 2/)] },
    })
  })

  test('is written as a small one is', async () => {
    const value = { a: { script: ['x'] }, b: { script: 'y'.repeat(5000) } }
    expect(await readConfigFile(await writeYaml(value), limits)).toEqual({
      header: undefined,
      content: value,
    })
  })
})
