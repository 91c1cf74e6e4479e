import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  assertObjectId,
  cleanPath,
  isBranchName,
  isObjectId,
  isPlainRevision,
  isRefName,
  isTagName,
  isTreePath,
  mayBeShortId,
} from '../../../src/git/names.ts'
import {
  compareVersions,
  namesPassing,
  pageOf,
  type RefFilter,
} from '../../../src/git/ref-files/ref-filter.ts'
import { gitTestEnvironment } from '../../support/git.ts'
import { runs } from '../../support/runs.ts'

/** Whether git takes the name, asked once for all of them. */
function gitTakes(names: readonly string[]): Map<string, boolean> {
  const script = 'for name do git check-ref-format "$name" && echo 1 || echo 0; done'
  const { stdout } = spawnSync('sh', ['-c', script, 'sh', ...names], { env: gitTestEnvironment })
  const answers = stdout.toString().split('\n')
  return new Map(names.map((name, i) => [name, answers[i] === '1']))
}

const odd = [
  ...['refs/heads/main', 'refs/heads/a/b', 'refs/heads/@', 'refs/heads/a@b', 'refs/heads/a@{b'],
  ...[
    'refs/heads/.a',
    'refs/heads/a.',
    'refs/heads/a/.b',
    'refs/heads/a.lock',
    'refs/heads/a.lock/b',
  ],
  ...['refs/heads/a..b', 'refs/heads/a//b', '/refs/heads/a', 'refs/heads/a/', 'refs/heads/a b'],
  ...['refs/heads/a~b', 'refs/heads/a^b', 'refs/heads/a:b', 'refs/heads/a?b', 'refs/heads/a*b'],
  ...[
    'refs/heads/a[b',
    'refs/heads/a]b',
    'refs/heads/a\\b',
    'refs/heads/a\tb',
    'refs/heads/a\x7fb',
  ],
  ...['refs/heads/日本', 'refs/heads/-', 'refs/heads/-a', 'refs/heads/a-', 'refs/heads/{}', '@'],
  ...['refs/heads/a"b', "refs/heads/a'b", 'refs/heads/a|b', 'refs/heads/a&b', 'refs/heads/$(a)'],
  ...['refs/heads/HEAD', 'refs/heads/a.b', 'refs/heads/a.lockb', 'refs/heads/lock', 'one', ''],
]

describe('names', () => {
  test('of refs are those that git takes, one by one', () => {
    for (const [name, taken] of gitTakes(odd))
      expect([name, isRefName(name)]).toEqual([name, taken])
  })

  test('of refs are those that git takes, whatever they are made of', () => {
    const piece = fc.constantFrom(
      'a',
      '.',
      '..',
      '/',
      '@',
      '{',
      '@{',
      '.lock',
      '~',
      '-',
      ' ',
      'é',
      '*',
    )
    const names = fc
      .sample(fc.array(piece, { minLength: 1, maxLength: 5 }), { numRuns: 40, seed: 11 })
      .map((pieces) => `refs/heads/${pieces.join('')}`)
    for (const [name, taken] of gitTakes(names)) {
      expect([name, isRefName(name)]).toEqual([name, taken])
    }
  })

  test('that fit into no file are refused, though git takes them', () => {
    expect(isRefName(`refs/heads/${'a'.repeat(250)}`)).toBe(true)
    expect(isRefName(`refs/heads/${'a'.repeat(251)}`)).toBe(false)
    expect(isRefName(`refs/heads/${'a'.repeat(255)}/b`)).toBe(true)
    expect(isRefName(`refs/heads/${'a'.repeat(256)}/b`)).toBe(false)
    // Bytes count, not characters.
    expect(isRefName(`refs/heads/${'é'.repeat(125)}`)).toBe(true)
    expect(isRefName(`refs/heads/${'é'.repeat(126)}`)).toBe(false)
    expect(isRefName(`refs/heads/${'a/'.repeat(520)}b`)).toBe(false)
  })

  test('of branches and tags are none that a program would take for something else', () => {
    for (const name of ['-a', '--all', 'HEAD', '', '@{-1}', 'a..b']) {
      expect([name, isBranchName(name), isTagName(name)]).toEqual([name, false, false])
    }
    for (const name of ['a-', '@', 'head', 'refs/heads/x', 'v1.0']) {
      expect([name, isBranchName(name), isTagName(name)]).toEqual([name, true, true])
    }
  })

  test('of revisions are plain: no operators, options or blanks', () => {
    const plain = ['HEAD', 'main', 'a/b', 'f'.repeat(40), 'f'.repeat(64), 'abcd', 'refs/heads/main']
    for (const text of plain) expect([text, isPlainRevision(text)]).toEqual([text, true])
    const refused = [
      '',
      '-n1',
      'a b',
      'a^',
      'a~1',
      'a:b',
      ':/x',
      'a@{1}',
      '@{u}',
      'a..b',
      '^a',
      'a\n',
    ]
    for (const text of refused) expect([text, isPlainRevision(text)]).toEqual([text, false])
  })

  test('of objects have 40 or 64 digits in lower case; the start of one has 4 at least', () => {
    expect(isObjectId('0'.repeat(40))).toBe(true)
    expect(isObjectId('0'.repeat(64))).toBe(true)
    for (const text of ['0'.repeat(39), '0'.repeat(41), 'A'.repeat(40), `${'0'.repeat(40)}\n`]) {
      expect(isObjectId(text)).toBe(false)
      expect(() => assertObjectId(text)).toThrow('not an object id')
    }
    expect(['abc', 'abcd', 'ABCD', 'abcg', '0'.repeat(65)].map(mayBeShortId)).toEqual([
      ...[false, true, false, false, false],
    ])
  })
})

describe('a path', () => {
  test('that comes clean is one of a tree, or empty, and stays as it is', () => {
    const piece = fc.constantFrom('a', 'b c', '.', '..', '/', '//', './', 'é', '\0', '-', '*')
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
        const given = pieces.join('')
        let clean: string
        try {
          clean = cleanPath(given)
        } catch (error) {
          expect(error).toMatchObject({ code: 'invalid' })
          return
        }
        expect(clean === '' || isTreePath(clean)).toBe(true)
        expect(cleanPath(clean)).toBe(clean)
        expect(clean.split('/')).not.toContain('..')
      }),
      runs(300, 9),
    )
  })

  test.each([
    ['/a/b/', 'a/b'],
    ['./a', 'a'],
    ['.', ''],
    ['/', ''],
    ['', ''],
    ['a/b', 'a/b'],
    ['.a', '.a'],
    ['...', '...'],
  ])('%j becomes %j', (given, clean) => {
    expect(cleanPath(given)).toBe(clean)
  })

  test.each(['a//b', '../a', 'a/..', 'a/./b', 'a\0b', '..', 'x'.repeat(4097)])(
    '%j leads nowhere',
    (given) => {
      expect(() => cleanPath(given)).toThrow('not a path inside the repository')
    },
  )
})

describe('a filter of names', () => {
  const names = ['main', 'Main', 'feature/a', 'feature/b', 'fix-main', 'x^y', 'end$', 'ÄÖ', 'äöü']

  test.each([
    ['main', ['main', 'Main', 'fix-main']],
    ['^main', ['main', 'Main']],
    ['main$', ['main', 'Main', 'fix-main']],
    ['^main$', ['main', 'Main']],
    ['/', ['feature/a', 'feature/b']],
    ['äö', ['ÄÖ', 'äöü']],
    ['.', []],
    ['^', names],
    ['', names],
    ['nothing', []],
  ])('by the search %j takes its part of the name, any case', async (search, expected) => {
    expect([...(await namesPassing({ search }, names))]).toEqual(expected)
  })

  test('by an expression takes what it matches, and both count where both are given', async () => {
    const found = async (filter: RefFilter) => [...(await namesPassing(filter, names))]
    expect(await found({ regex: '^f.*a$' })).toEqual(['feature/a'])
    expect(await found({ regex: '(?i)MAIN', search: '^fix' })).toEqual(['fix-main'])
    for (const regex of ['(', '[', '(?=a)']) {
      await expect(found({ regex })).rejects.toThrow('not understood')
    }
    await expect(found({ regex: 'a{99999}' })).rejects.toThrow('too large')
    // What would take a backtracking matcher for ever takes no time.
    const long = [`${'a'.repeat(5000)}b`]
    expect([...(await namesPassing({ regex: '(a+)+$' }, long))]).toEqual([])
  })

  test('pages put together give everything once, by offset and by the last name seen', () => {
    const items = names.map((name) => ({ name }))
    for (let limit = 1; limit <= items.length + 1; limit += 1) {
      const byOffset: string[] = []
      const byName: string[] = []
      let after: string | undefined
      for (let offset = 0; ; offset += limit) {
        const one = pageOf(items, { offset, limit })
        const other = pageOf(items, { after, limit })
        byOffset.push(...one.items.map(({ name }) => name))
        byName.push(...other.items.map(({ name }) => name))
        expect(one.more).toBe(offset + limit < items.length)
        expect(other.more).toBe(one.more)
        after = byName.at(-1)
        if (!one.more) break
      }
      expect(byOffset).toEqual(names)
      expect(byName).toEqual(names)
    }
    expect(() => pageOf(items, { after: 'gone' })).toThrow('names no ref')
    expect(pageOf(items, { offset: 99, limit: 5 })).toEqual({ items: [], more: false })
  })
})

describe('versions', () => {
  test('stand in the order of releases', () => {
    const ordered = [
      ...['1.0-alpha', '1.0-beta2', '1.0-beta10', '1.0-rc1', '1.0', '1.0.1', '1.0.2', '1.0.10'],
      ...['1.2', '1.10', '2.0', '10.0', '010.1'],
    ]
    const shuffled = fc.sample(fc.shuffledSubarray(ordered, { minLength: ordered.length }), {
      numRuns: 20,
      seed: 2,
    })
    for (const some of shuffled) expect(some.toSorted(compareVersions)).toEqual(ordered)
  })

  test('have one order, whatever they are made of', () => {
    const version = fc
      .array(fc.constantFrom('1', '02', '10', '.', '-', 'rc', 'a', 'v'), { maxLength: 5 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(version, version, version, (a, b, c) => {
        // `+ 0` makes one zero of two.
        expect(Math.sign(compareVersions(a, b)) + 0).toBe(-Math.sign(compareVersions(b, a)) + 0)
        if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) {
          expect(compareVersions(a, c)).toBeLessThanOrEqual(0)
        }
      }),
      runs(500, 4),
    )
  })
})
