import { describe, expect, test } from 'vitest'
import { isShallow } from '../../../src/base/yaml/is-shallow.ts'
import { readConfigFile } from '../../../src/ci/config/yaml.ts'
import { readYaml } from '../../../src/packages/helm/read-yaml.ts'
import { splitFrontMatter } from '../../../src/publishing/wikis/front-matter.ts'
import { parseChangelogConfig } from '../../../src/repositories/changelog/config.ts'

const levels = (count: number) => Array.from({ length: count }, (_, at) => at)

/** Forms of YAML that are nested so deep. */
const forms: Readonly<Record<string, (count: number) => string>> = {
  'a list in brackets': (count) => `${'['.repeat(count)}${']'.repeat(count)}`,
  'a map in braces': (count) => `${'{a: '.repeat(count)}x${'}'.repeat(count)}`,
  'a list in lines': (count) => `${'- '.repeat(count)}x`,
  'a map in lines': (count) =>
    levels(count)
      .map((at) => `${' '.repeat(at)}a:\n`)
      .join(''),
  'a key in a key': (count) => `${'? '.repeat(count)}x`,
}

describe('YAML that is nested', () => {
  test.each(Object.entries(forms))('as %s is found to be shallow, or not', (_name, form) => {
    expect([isShallow(form(100)), isShallow(form(300))]).toEqual([true, false])
  })

  test.each(Object.entries(forms))(
    'a thousand times as %s ends nobody’s process',
    async (_name, form) => {
      const text = `a: ${form(1000).replaceAll('\n', '\n ')}`
      const limits = { maxBytes: 2_097_152, maxDepth: 100 }
      await expect(readConfigFile(text, limits)).rejects.toMatchObject({ status: 400 })
      expect(readYaml(text)).toBeUndefined()
      expect(splitFrontMatter(`---\n${text}\n---\n`).frontMatter).toEqual({})
      expect(() => parseChangelogConfig(text, 'x.yml')).toThrow('valid YAML')
    },
  )

  test('a hundred thousand times in brackets ends nobody’s process', async () => {
    const text = `a: ${'['.repeat(100_000)}`
    const limits = { maxBytes: 2_097_152, maxDepth: 100 }
    await expect(readConfigFile(text, limits)).rejects.toMatchObject({ status: 400 })
    expect(readYaml(text)).toBeUndefined()
  })

  test('with an empty text, several documents and what is no YAML is shallow', () => {
    for (const text of ['', 'a', 'a: 1\n---\nb: [2]\n', ']', ': : :', '\u0000']) {
      expect(isShallow(text)).toBe(true)
    }
  })
})
