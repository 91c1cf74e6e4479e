import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { findClosedIssues, findReferences } from '../../src/markdown/find-references.ts'

const here = 'https://git.example'

describe('mentions', () => {
  test.each([
    ['see #12', [{ kind: 'issue', project: null, iid: 12 }]],
    [
      'g/sub/p#3 and !4',
      [
        { kind: 'issue', project: 'g/sub/p', iid: 3 },
        { kind: 'merge_request', project: null, iid: 4 },
      ],
    ],
    ['g/p@0123456789', [{ kind: 'commit', project: 'g/p', sha: '0123456789' }]],
    ['thanks @ana.', [{ kind: 'user', username: 'ana' }]],
    ['@group/sub please', [{ kind: 'user', username: 'group/sub' }]],
    ['a@b.example is an address', []],
    ['color #12a and word#', []],
    ['`#1` and\n```\n#2\n@ana\n```\n#3', [{ kind: 'issue', project: null, iid: 3 }]],
    ['#1 #1 #1', [{ kind: 'issue', project: null, iid: 1 }]],
  ])('%j', (text, expected) => {
    expect(findReferences(text)).toEqual(expected)
  })
})

describe('what stands in code mentions nobody', () => {
  test.each([
    '  ```\n@in\n  ```\n@out',
    '````\n```\n@in\n```\n@in\n````\n@out',
    '~~~\n```\n@in\n~~~\n@out',
    '```\n@in\n~~~\n@in\n```\n@out',
    '```sh\n@in\n``` not the end\n@in\n```\n@out',
    '```\r\n@in\r\n```\r\n@out',
    '@out\n```\n@in, in a block that never ends',
    '- ```\n  @in\n  ```\n- @out',
    '> ```\n> @in\n> ```\n\n@out',
    '1. > ~~~ruby\n   > @in\n   > ~~~\n\n@out',
    '``a `@in` b`` @out',
    '`a\n@in` @out',
    '`` ` @in `` @out',
  ])('%j', (text) => {
    expect(findReferences(text)).toEqual([{ kind: 'user', username: 'out' }])
    expect(findClosedIssues(text.replaceAll(/@(in|out)/g, 'closes #1'), here)).toHaveLength(1)
  })

  test.each([
    'a ` and @out',
    '``@out`',
    '`a\n\n@out`',
    'x ```sh\n@out',
    '``` a`b\n@out',
    '\n~~ @out ~~',
  ])('what only looks like it does: %j', (text) => {
    expect(findReferences(text)).toContainEqual({ kind: 'user', username: 'out' })
  })
})

describe('closing words', () => {
  test.each([
    ['Closes #1', [1]],
    ['fix: #1', [1]],
    ['Fixes #1, #2 and #3', [1, 2, 3]],
    ['resolving issue #4', [4]],
    ['Implemented g/p#5', [5]],
    [`closes ${here}/g/p/-/issues/6`, [6]],
    ['closes https://other.example/g/p/-/issues/7', []],
    ['closed the door #8', []],
    ['prefixes #9', []],
    ['`closes #10`', []],
  ])('%j', (text, iids) => {
    expect(findClosedIssues(text, here).map((issue) => issue.iid)).toEqual(iids)
  })

  test('are a hundred in one text', () => {
    const text = Array.from({ length: 500 }, (_, at) => `closes #${at + 1}`).join('\n')
    expect(findClosedIssues(text, here).map((issue) => issue.iid)).toEqual(
      Array.from({ length: 100 }, (_, at) => at + 1),
    )
  })

  test('any text is searched in time that grows with its length', () => {
    const hostile = [
      'a/'.repeat(20_000),
      '#'.repeat(40_000),
      'closes #1, '.repeat(5_000),
      '`'.repeat(40_001),
      '@a'.repeat(20_000),
      Array.from({ length: 1000 }, (_, n) => '`'.repeat(n + 1)).join(' '),
      '` `` '.repeat(20_000),
      '```\n'.repeat(20_001),
      `${'> - '.repeat(20_000)}x`,
    ]
    const started = performance.now()
    for (const text of hostile) {
      findReferences(text)
      findClosedIssues(text, here)
    }
    expect(performance.now() - started).toBeLessThan(3_000)
    fc.assert(
      fc.property(
        fc.string(),
        (text) =>
          Array.isArray(findReferences(text)) && Array.isArray(findClosedIssues(text, here)),
      ),
    )
  })
})
