import { describe, expect, test } from 'vitest'
import {
  ownedBy,
  parseCodeOwners,
  pathTest,
} from '../../../src/review/approval-rules/code-owners.ts'

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

  test('of ten thousand hostile lines is matched in moments', () => {
    const hostile = parseCodeOwners(`${'**/*a*a*a*a*a*b '.repeat(1)}@x\n`.repeat(2000))
    const before = performance.now()
    ownedBy(hostile, [`${'a'.repeat(200)}c`])
    expect(performance.now() - before).toBeLessThan(5000)
  })
})
