import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  defaultChangelogConfig,
  parseChangelogConfig,
} from '../../../src/repositories/changelog/config.ts'
import { renderDefault } from '../../../src/repositories/changelog/default-section.ts'
import {
  type CategorizedEntry,
  type ChangelogEntry,
  categorize,
  entryTitle,
  withoutReverted,
} from '../../../src/repositories/changelog/entries.ts'
import { insertSection } from '../../../src/repositories/changelog/insert-section.ts'
import { previousTag } from '../../../src/repositories/changelog/previous-tag.ts'
import {
  renderTemplate,
  type TemplateValue,
} from '../../../src/repositories/changelog/render-template.ts'
import { runLimited } from '../../../src/repositories/changelog/run-limited.ts'
import {
  asNotes,
  renderSection,
  requestedVersion,
} from '../../../src/repositories/changelog/section.ts'
import { strftime } from '../../../src/repositories/changelog/strftime.ts'
import { parseTemplate } from '../../../src/repositories/changelog/template.ts'
import {
  compareVersions,
  defaultTagPattern,
  parseVersion,
  type Version,
} from '../../../src/repositories/changelog/version.ts'

function version(text: string): Version {
  return requestedVersion(text)
}

function render(source: string, data: TemplateValue): string {
  return renderTemplate(parseTemplate(source), data)
}

function entry(title: string, extra: Partial<ChangelogEntry> = {}): ChangelogEntry {
  return {
    title,
    commit: { reference: `g/p@${title}`, web_url: `https://x.test/${title}`, trailers: {} },
    ...extra,
  }
}

describe('versions', () => {
  test('sort as semver.org says, the build last', () => {
    const sorted = [
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.0.0+1',
      '1.0.0+2',
      '1.0.1',
      '1.2.0',
      '1.10.0',
      '99999999999999999999.0.0',
    ]
    const shuffled = sorted.toReversed()
    shuffled.sort((a, b) => compareVersions(version(a), version(b)))
    expect(shuffled).toEqual(sorted)
  })

  test.each(['', '1', '1.2', '01.2.3', '1.2.3.4', '1.2.3-', 'vv1.2.3', '1.2.3 ', '1.2.3\n'])(
    '%j is no version',
    (text) => {
      expect(parseVersion(text)).toBeUndefined()
      expect(() => requestedVersion(text)).toThrow('attribute format is not correct')
    },
  )
})

describe('the previous tag', () => {
  const tags = ['v1.0.0', 'v1.1.0', 'v1.2.0-rc1', 'v1.10.0', '2.0.0', 'nightly', 'v2.1.0']

  test.each([
    ['2.0.0', 'v1.10.0'],
    ['2.1.0', '2.0.0'],
    ['1.2.0', 'v1.1.0'],
    ['9.0.0', 'v2.1.0'],
    ['1.0.0', undefined],
    ['2.0.0-rc1', 'v1.10.0'],
  ])('of %s is %s', (requested, expected) => {
    expect(previousTag(tags, version(requested), defaultTagPattern)).toBe(expected)
  })

  test('is found by a pattern of the configuration', () => {
    const pattern = '^version-(?P<major>\\d+)\\.(?P<minor>\\d+)\\.(?P<patch>\\d+)(-(?P<pre>.+))?$'
    const names = ['version-1.0.0', 'version-1.1.0-pre', 'v1.2.0', 'version-0.9.0']
    expect(previousTag(names, version('1.5.0'), pattern)).toBe('version-1.0.0')
    expect(previousTag(names, version('1.5.0'), '^(?<major>v)')).toBeUndefined()
  })

  test.each(['(', '(?=x)', '(?P<major>a)\\1', 'x'.repeat(3000)])('%j is refused', (pattern) => {
    expect(() => previousTag(tags, version('1.0.0'), pattern)).toThrow(
      'The regular expression to use for finding the previous tag for a version is invalid',
    )
  })

  test('is matched in linear time', () => {
    const started = performance.now()
    previousTag([`${'a'.repeat(3000)}!`], version('1.0.0'), '^(?P<major>(a+)+)$')
    expect(performance.now() - started).toBeLessThan(1000)
  })
})

describe('the template language', () => {
  const people = { name: 'x', users: [{ name: 'Ana' }, { name: 'Bo' }], none: [], map: { a: 1 } }

  test.each<[string, string]>([
    ['plain { text } %} }}', 'plain { text } %} }}'],
    ['{{name}} {{ name }}', 'x x'],
    ['{{ users.0.name }}{{ users.9.name }}{{ nothing.at.all }}', 'Ana'],
    ['{% each users %}{{ name }},{% end %}', 'Ana,Bo,'],
    ['{% each users %}{{ it.name }}{{ users }}{% end %}', 'AnaBo'],
    ['{% each map %}{{ it.0 }}={{ 1 }}{% end %}', 'a=1'],
    ['{% each name %}no{% end %}', ''],
    ['{% if none %}a{% else %}b{% end %}', 'b'],
    ['{% if users %}a{% else %}b{% end %}', 'a'],
    ['{% if nothing %}a{% end %}', ''],
    ['{% if name %}\nline\n{% end %}\nrest', 'line\nrest'],
    ['a\\\nb', 'ab'],
    ['a\\nb \\ {{ name }}', 'a\\nb \\ x'],
    ['{% if constructor %}leak{% end %}{{ __proto__ }}', ''],
    ['{%if name%}a{%else%}b{%end%}', 'a'],
  ])('renders %j as %j', (source, expected) => {
    expect(render(source, people)).toBe(expected)
  })

  test.each([
    '{{ name',
    '{{ a b }}',
    '{{ a | b }}',
    '{{ }}',
    '{% if a %}',
    '{% end %}',
    '{% else %}',
    '{% each a %}{% else %}{% end %}',
    '{% for a %}{% end %}',
    '{{ a..b }}',
    '{{ 12345678901 }}',
    '{{ ä }}',
    '{% if a %}'.repeat(60),
  ])('%j is refused', (source) => {
    expect(() => parseTemplate(source)).toThrow('Failed to parse the template: ')
  })

  test('nests four loops and no more', () => {
    const data = [[[[['x']]]]]
    const nest = (depth: number) => '{% each it %}'.repeat(depth) + '{% end %}'.repeat(depth)
    expect(render(nest(4), data)).toBe('')
    expect(() => render(nest(5), data)).toThrow('You can only nest up to 4 loops')
  })

  test('never fails but with its own error, and text without tags stays as it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const plain = text.replaceAll('{', '(').replaceAll('\\', '/')
        expect(render(plain, null)).toBe(plain)
        try {
          render(text, people)
        } catch (error) {
          expect((error as Error).name).toBe('ChangelogFailure')
        }
      }),
    )
  })

  test('stops a template that multiplies its text', () => {
    const many = Array.from({ length: 3000 }, () => 'x'.repeat(100))
    const source = '{% each it %}{{ it }}{% end %}'.repeat(100)
    expect(() => render(source, many)).toThrow('too much text')
  })
})

describe('the section', () => {
  const defaultTemplate = `{% if categories %}
{% each categories %}
### {{ title }} ({% if single_change %}1 change{% else %}{{ count }} changes{% end %})

{% each entries %}
- [{{ title }}]({{ commit.web_url }})\\
{% if author.credit %} by {{ author.reference }}{% end %}\\
{% if merge_request %} ([merge request]({{ merge_request.web_url }})){% end %}

{% end %}

{% end %}
{% else %}
No changes.
{% end %}
`

  const names = new Map([
    ['feature', 'Features'],
    ['bug', 'Bug fixes'],
    ['unused', 'Unused'],
  ])
  const entries: CategorizedEntry[] = [
    { category: 'other', entry: entry('C') },
    { category: 'bug', entry: entry('B') },
    {
      category: 'feature',
      entry: entry('A', {
        author: { reference: '@ana', contributor: true, credit: true },
        merge_request: { reference: 'g/p!1', web_url: 'https://x.test/-/1' },
      }),
    },
    {
      category: 'feature',
      entry: entry('A2', { author: { reference: '@bo', contributor: false, credit: false } }),
    },
  ]

  test('sorts categories by the configuration and shows what a reader needs', async () => {
    const section = await renderSection({
      version: version('v1.2.0'),
      date: '2021-09-20T23:30:00.000Z',
      config: { ...defaultChangelogConfig, categories: names },
      entries,
    })
    expect(section).toBe(
      [
        '## 1.2.0 (2021-09-20)',
        '',
        '### Features (2 changes)',
        '',
        '- [A](https://x.test/A) by @ana ([merge request](https://x.test/-/1))',
        '- [A2](https://x.test/A2)',
        '',
        '### Bug fixes (1 change)',
        '',
        '- [B](https://x.test/B)',
        '',
        '### other (1 change)',
        '',
        '- [C](https://x.test/C)',
        '',
        '',
      ].join('\n'),
    )
    expect(asNotes(section).endsWith('C)\n')).toBe(true)
  })

  test('without entries says so', async () => {
    expect(await renderDefault([])).toBe('No changes.')
  })

  test('the writer and the template language give the same default, whatever the words', async () => {
    const word = fc.oneof(
      fc.constantFrom('constructor', '__proto__', '12', '3', '{{title}}', '<b>&', 'a', 'toString'),
      fc.string({ minLength: 1 }).filter((text) => text.trim() !== ''),
    )
    const anyEntry = fc.record({
      category: word,
      title: word,
      author: fc.boolean(),
      mr: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(anyEntry, { maxLength: 8 }), async (list) => {
        const categories = categorize(
          list.map(({ category, title, author, mr }) => ({
            category,
            entry: entry(title, {
              ...(author && { author: { reference: '@a', contributor: true, credit: true } }),
              ...(mr && { merge_request: { reference: '!1', web_url: 'https://x.test/1' } }),
            }),
          })),
          new Map(),
        )
        const data = { categories } as unknown as TemplateValue
        expect(await renderDefault(categories)).toBe(render(defaultTemplate, data).trim())
      }),
      { numRuns: 100 },
    )
  })

  test('a template of the configuration replaces the default', async () => {
    const section = await renderSection({
      version: version('1.0.0'),
      date: '2021-09-20T00:00:00.000Z',
      config: {
        ...defaultChangelogConfig,
        dateFormat: '%d %B %Y',
        template: '{% each categories %}\n* {{ title }}: {{ count }}\n{% end %}\n',
      },
      entries,
    })
    expect(section).toBe('## 1.0.0 (20 September 2021)\n\n* other: 1\n* bug: 1\n* feature: 2\n\n')
  })

  test('15,000 entries do not hold up the process', async () => {
    const many = Array.from({ length: 15_000 }, (_, i) => ({
      category: `c${i % 7}`,
      entry: entry(`t${i}`),
    }))
    const started = performance.now()
    await renderDefault(categorize(many, new Map()))
    expect(performance.now() - started).toBeLessThan(1500)
  })

  test('a long title is cut', () => {
    expect(entryTitle('x'.repeat(100))).toHaveLength(100)
    expect(entryTitle('word '.repeat(30))).toMatch(/^(word ){14,15}word…$/)
    expect([...entryTitle('𝒳'.repeat(101))]).toHaveLength(80)
  })
})

describe('reverts', () => {
  const commit = (id: string, message: string) => ({ id: id.repeat(40), message })

  test('take the older commit away, and a reverted revert does not', () => {
    const a = commit('a', 'A')
    const undoA = commit('b', `Revert "A"\n\nThis reverts commit ${'A'.repeat(40)}.`)
    const redo = commit('c', `Revert "Revert"\n\nthis reverts commit ${'b'.repeat(40)}.`)
    expect(withoutReverted([undoA, a])).toEqual([undoA])
    expect(withoutReverted([redo, undoA, a])).toEqual([redo, a])
  })
})

describe('insertion', () => {
  const section = (text: string) => `## ${text} (2021-01-01)\n\nNew.\n\n`
  const insert = (content: string, text: string) =>
    insertSection(content, version(text), section(text))

  test('puts a section before the first one of a lower version', () => {
    const file = '# Changes\n\n## 3.0.0 (x)\n\nC\n\n## 1.0.0\n\nA\n'
    expect(insert(file, '2.0.0')).toBe(
      `# Changes\n\n## 3.0.0 (x)\n\nC\n\n${section('2.0.0')}## 1.0.0\n\nA\n`,
    )
    expect(insert(file, '4.0.0')).toBe(
      `# Changes\n\n${section('4.0.0')}## 3.0.0 (x)\n\nC\n\n## 1.0.0\n\nA\n`,
    )
  })

  test('appends the lowest version with a blank line between', () => {
    expect(insert('## 1.0.0\n\nA', '0.9.0')).toBe(
      '## 1.0.0\n\nA\n\n## 0.9.0 (2021-01-01)\n\nNew.\n',
    )
    expect(insert('', '1.0.0')).toBe('## 1.0.0 (2021-01-01)\n\nNew.\n')
  })

  test('leaves a file that has the version', () => {
    expect(insert('## 1.0.0\n', '1.0.0')).toBeUndefined()
    expect(insert('## v1.0.0 (then)\r\n', '1.0.0')).toBeUndefined()
    expect(insert('### 1.0.0\n## 1.0.0-rc\n', '1.0.0')).toContain('## 1.0.0 (2021')
  })

  test('in any order of insertion the sections end up by version', () => {
    const part = fc.integer({ min: 0, max: 12 })
    const versions = fc.uniqueArray(
      fc.tuple(part, part, part).map((parts) => parts.join('.')),
      { minLength: 1, maxLength: 8 },
    )
    fc.assert(
      fc.property(versions, (list) => {
        let file = '# Changelog\n'
        for (const text of list) file = insert(file, text) ?? file
        const found = [...file.matchAll(/^## (\S+)/gm)].map((match) => match[1] ?? '')
        const sorted = list.toSorted((a, b) => compareVersions(version(b), version(a)))
        expect(found).toEqual(sorted)
      }),
    )
  })
})

describe('dates', () => {
  test.each([
    ['%Y-%m-%d', '2021-01-03'],
    ['%-d.%-m.%y', '3.1.21'],
    ['%A, %e %b %Y %H:%M:%S', 'Sunday,  3 Jan 2021 04:05:06'],
    ['%^a %j %G-W%V %U %W %u', 'SUN 003 2020-W53 01 00 7'],
    ['%I:%M %p %P %l', '04:05 AM am  4'],
    ['100%% %Q %', '100% %Q %'],
    ['%F %T %s %5d %_m', '2021-01-03 04:05:06 1609646706 00003  1'],
  ])('%j gives %j', (format, expected) => {
    expect(strftime('2021-01-03T04:05:06.000Z', format)).toBe(expected)
  })
})

describe('the configuration', () => {
  const parse = (text: string) => parseChangelogConfig(text, 'the/file.yml')

  test('reads every key', () => {
    const config = parse(
      'date_format: "%d"\ncategories:\n  2: Two\n  1: One\ntag_regex: "^x"\ninclude_groups: [a/b]\ntemplate: |\n  {{ x }}\n',
    )
    expect(config).toEqual({
      dateFormat: '%d',
      template: '{{ x }}\n',
      categories: new Map([
        ['2', 'Two'],
        ['1', 'One'],
      ]),
      tagPattern: '^x',
      includeGroups: ['a/b'],
    })
    expect([...config.categories.keys()]).toEqual(['2', '1'])
  })

  test('an empty file means the defaults', () => {
    expect(parse('')).toEqual(defaultChangelogConfig)
  })

  test('categories must be a map', () => {
    expect(() => parse('categories: [a]')).toThrow(
      'The "categories" configuration key must be a Hash',
    )
  })

  const bomb = [
    'a: &a [x,x,x,x,x,x,x,x,x,x]',
    ...'bcdefghij'.split('').map((key, i) => {
      const before = 'abcdefghij'[i]
      return `${key}: &${key} [${Array.from({ length: 10 }, () => `*${before}`).join(',')}]`
    }),
  ].join('\n')

  test.each([
    ['text alone', 'just text'],
    ['a broken file', 'a: [1\nb: }'],
    ['an alias bomb', bomb],
    ['code', 'template: !!js/function "function () { return 1 }"'],
  ])('%s is refused', (_name, text) => {
    expect(() => parse(text)).toThrow('the/file.yml does not contain valid YAML')
  })
})

describe('user work in a worker', () => {
  test('answers, and fails with the same error', async () => {
    const config = await runLimited('config', { text: 'categories: {a: b}', path: 'p' })
    expect(config.categories.get('a')).toBe('b')
    await expect(runLimited('config', { text: 'a: [', path: 'p' })).rejects.toMatchObject({
      name: 'ChangelogFailure',
      message: 'p does not contain valid YAML',
    })
    const found = await runLimited('previousTag', {
      tags: ['v1.0.0'],
      requested: version('1.1.0'),
      pattern: defaultTagPattern,
    })
    expect(found).toBe('v1.0.0')
  })

  test('is ended after two seconds while this process goes on', async () => {
    const tags = Array.from({ length: 50_000 }, (_, i) => `${'a'.repeat(200)}${i}`)
    let longestGap = 0
    let last = performance.now()
    const timer = setInterval(() => {
      longestGap = Math.max(longestGap, performance.now() - last)
      last = performance.now()
    }, 5)
    const work = runLimited('previousTag', {
      tags,
      requested: version('1.0.0'),
      pattern: '(?:[ab]?[ac]?){450}(?P<major>[x-z])$',
    })
    await expect(work).rejects.toMatchObject({ name: 'ChangelogFailure' })
    clearInterval(timer)
    expect(longestGap).toBeLessThan(1500)
  })
})
