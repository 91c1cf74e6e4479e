import { describe, expect, test } from 'vitest'
import { Problem } from '../../../src/base/problem.ts'
import {
  ownedBy,
  parseCodeOwners,
  pathTest,
} from '../../../src/review/approval-rules/code-owners.ts'
import { compareWithOwners } from '../../../src/review/approval-rules/compare-with-owners.ts'

describe('a pattern', () => {
  test.each([
    ['*', 'a/b/.c', true],
    ['*.ts', 'deep/in/a.ts', true],
    ['/*.ts', 'deep/a.ts', false],
    ['/*.ts', 'a.ts', true],
    ['docs/', 'docs/a/b.md', true],
    ['docs/', 'x/docs/a.md', true],
    ['/docs/', 'x/docs/a.md', false],
    ['/docs/*', 'docs/a/b.md', false],
    ['/docs/**/*.md', 'docs/a/b.md', true],
    ['/docs/**/*.md', 'docs/b.md', true],
    ['README', 'a/README', true],
    ['README', 'a/README.md', false],
    ['[ab].c', 'b.c', true],
    ['a?c', 'a/c', false],
    ['/', 'any/thing', true],
    ['(x|y)+', '(x|y)+', true],
  ])('%s against %s is %s', (pattern, path, expected) => {
    expect(pathTest(pattern)(path)).toBe(expected)
  })
})

describe('a file of owners', () => {
  const text = `# all
* @root
\\#strange @odd
with\\ space.txt a@b.test

[Docs][2] @writers/team
docs/
!docs/private/
docs/api/ @api-team

^[Optional]
*.md @reader
[DOCS] @others
notes/
[not a header
[Broken] some text
`
  const sections = parseCodeOwners(text)

  test('has sections by name, letter case aside, with counts and default owners', () => {
    expect(sections.map(({ name, optional, approvals }) => [name, optional, approvals])).toEqual([
      ['codeowners', false, 1],
      ['Docs', false, 2],
      ['Optional', true, 1],
    ])
  })

  test('gives in each section the last line that matches', () => {
    const found = ownedBy(sections, ['docs/api/x.md', 'docs/private/y.md', 'notes/z'])
    expect(found.map(({ section, entry }) => [section.name, entry.pattern, entry.owners])).toEqual([
      ['codeowners', '*', ['@root']],
      ['Docs', 'docs/api/', ['@api-team']],
      ['Docs', 'notes/', ['@others']],
      ['Optional', '*.md', ['@reader']],
    ])
  })

  test('may hide spaces and hash signs behind backslashes', () => {
    const entries = sections[0]?.entries.map(({ pattern, owners }) => [pattern, owners])
    expect(entries).toContainEqual(['#strange', ['@odd']])
    expect(entries).toContainEqual(['with space.txt', ['a@b.test']])
  })

  test('of thousands of hostile lines holds up nobody, whether it comes to an end or not', async () => {
    const hostile = '**/*a*a*a*a*a*b @x\n'.repeat(2000)
    const paths = [`${'a'.repeat(200)}c`]
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    const owned = await compareWithOwners({ text: hostile, paths }, undefined).catch(
      (error: unknown) => error,
    )
    clearInterval(timer)
    expect(owned instanceof Problem || Array.isArray(owned)).toBe(true)
    expect(turns).toBeGreaterThan(5)
  })

  test('is compared alike at once and in a worker', async () => {
    const text = '* @all\n/docs/ @docs\n'
    const many = Array.from({ length: 2000 }, (_, at) => `docs/${at}.md`)
    const owned = await compareWithOwners({ text, paths: ['a.c', ...many] }, undefined)
    expect(owned.map(({ entry }) => entry.pattern)).toEqual(['*', '/docs/'])
    expect(owned.map(({ paths }) => paths)).toEqual([['a.c'], many])
    const few = await compareWithOwners({ text, paths: ['a.c', 'docs/1.md'] }, undefined)
    expect(few).toEqual(owned.map((one, at) => ({ ...one, paths: [['a.c'], ['docs/1.md']][at] })))
  })
})
