import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  groupNameFaults,
  groupPathFaults,
  isReservedTopPath,
  pathFromName,
  projectNameFaults,
  projectPathFaults,
} from '../../src/base/path-rules.ts'
import { runs } from '../support/runs.ts'

const isGood = (faults: readonly string[]) => faults.length === 0

/** docs/contract/D §1.2 Rules: path characters, and the words that mean something to the server. */
const reservedInProjects =
  '- badges blame blob builds commits create create_dir edit files find_file new preview raw refs tree update wikis'
const reservedAtTheTop =
  '- .well-known admin api assets dashboard explore groups help import oauth projects snippets uploads users v2'

describe('the path of a project', () => {
  test.each([
    'a',
    'A1',
    '_',
    '__a',
    'a-b',
    'a.b',
    'a_b',
    '1',
    'a__b',
    'a.b-c_d',
    'git',
    'x'.repeat(255),
  ])('%s is good', (path) => {
    expect(projectPathFaults(path)).toEqual([])
  })

  test.each([
    '-a',
    '.a',
    'a-',
    'a.',
    'a..b',
    'a--b',
    'a.-b',
    'a.git',
    'a.GIT',
    'a.atom',
    'a b',
    'a/b',
    'a%2Fb',
    'ä',
    'a\n',
    'a\0',
    'a@b',
    'a:b',
    'a\\b',
    '..',
    '.',
  ])('%j is none, and the error says how it should be', (path) => {
    expect(projectPathFaults(path)).toEqual([
      "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-', end in '.git' or end in '.atom'",
    ])
  })

  test('is not blank, and not longer than 255 characters', () => {
    expect(projectPathFaults('')).toEqual(["can't be blank"])
    expect(projectPathFaults('  ')).toEqual(["can't be blank"])
    expect(projectPathFaults('x'.repeat(256))).toEqual(['is too long (maximum is 255 characters)'])
  })

  test.each(reservedInProjects.split(' ').filter((word) => word !== '-'))(
    '%s is reserved, in any case, for projects and subgroups but not at the top',
    (word) => {
      for (const path of [word, word.toUpperCase()]) {
        expect(projectPathFaults(path)).toEqual([`${path} is a reserved name`])
        expect(groupPathFaults(path, false)).toEqual([`${path} is a reserved name`])
      }
    },
  )

  test('that is good stands in an address as it is, and needs no encoding', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 12 }), (path) => {
        if (!isGood(projectPathFaults(path))) return
        expect(encodeURIComponent(path)).toBe(path)
        expect(new URL(`http://x/${path}/y`).pathname).toBe(`/${path}/y`)
      }),
      runs(100, 89),
    )
  })
})

describe('the path that comes of a name', () => {
  test.each([
    ['My Project', 'my-project'],
    ['Über Größe', 'uber-gro-e'],
    ['a  b', 'a-b'],
    ['C++ & C#', 'c-c'],
    ['v1.0', 'v1.0'],
    ['--x--', 'x'],
    ['..x..', 'x'],
    ['a_b', 'a_b'],
    ['a -.- b', 'a-b'],
    ['日本', ''],
    ['😀', ''],
  ])('%j is %j', (name, path) => {
    expect(pathFromName(name)).toBe(path)
  })

  test('is a good one, unless nothing is left, it is reserved by the server, or ends like a repository', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), (name) => {
        const path = pathFromName(name)
        const isExcused =
          path === '' || /\.(git|atom)$/.test(path) || reservedInProjects.split(' ').includes(path)
        expect([name, path, isExcused || isGood(projectPathFaults(path))]).toEqual([
          name,
          path,
          true,
        ])
        expect(pathFromName(path)).toBe(path)
      }),
      runs(100, 90),
    )
  })
})

describe('the path of a group', () => {
  test.each(reservedAtTheTop.split(' ').filter((word) => word !== '-'))(
    '%s is reserved at the top, where users have their names as well',
    (word) => {
      expect(isGood(groupPathFaults(word, true))).toBe(false)
      expect(isReservedTopPath(word)).toBe(true)
      expect(isReservedTopPath(word.toUpperCase())).toBe(true)
    },
  )

  test.each([
    ['a', true],
    ['a.b', true],
    ['.a', true],
    ['_a', true],
    ['a--b', true],
    ['-a', false],
    ['a.', false],
    ['a-', false],
    ['a.git', false],
    ['a.atom', false],
    ['a b', false],
    ['a/b', false],
    ['é', false],
    ['', false],
    ['x'.repeat(256), false],
  ])('%j is good: %s', (path, expected) => {
    expect(isGood(groupPathFaults(path, true))).toBe(expected)
    expect(isGood(groupPathFaults(path, false))).toBe(expected)
  })

  test.each(['group_members', 'labels', 'milestones'])(
    '%s is reserved below a group alone',
    (word) => {
      expect(isGood(groupPathFaults(word, false))).toBe(false)
      expect(isGood(groupPathFaults(word, true))).toBe(true)
      expect(isGood(projectPathFaults(word))).toBe(true)
    },
  )
})

describe('names', () => {
  test.each([
    ['Plain name', true, true],
    ['Ünïcode 日本語', true, true],
    ['with_all. +-', true, true],
    ['😀 smile', true, true],
    ['👩‍👩‍👧 family', true, true],
    ['a (b)', false, true],
    ['R&D', false, true],
    ['-dash', false, false],
    [' blank', false, false],
    ['<b>', false, false],
    ['a\nb', false, false],
    ['a\0b', false, false],
    ['a"b', false, false],
    ['', false, false],
    ['x'.repeat(256), false, false],
    ['😀'.repeat(255), true, true],
  ])('%j is one of a project: %s, of a group: %s', (name, ofProject, ofGroup) => {
    expect(isGood(projectNameFaults(name))).toBe(ofProject)
    expect(isGood(groupNameFaults(name))).toBe(ofGroup)
  })

  test('are judged in time linear in their length', () => {
    const start = performance.now()
    for (const name of [
      'a '.repeat(50_000),
      '😀\u200d'.repeat(20_000),
      `${'a.'.repeat(50_000)}\0`,
    ]) {
      projectNameFaults(name)
      groupNameFaults(name)
      projectPathFaults(name)
      groupPathFaults(name, true)
    }
    expect(performance.now() - start).toBeLessThan(1000)
  })
})
