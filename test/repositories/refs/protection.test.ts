import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { matchesPattern } from '../../../src/base/name-pattern.ts'
import { leadsTo } from '../../../src/repositories/refs/journal/recover.ts'
import {
  allowForcePush,
  type BranchRule,
  type Level,
  lets,
  type Mover,
  mayPushTo,
  rulesFor,
} from '../../../src/repositories/refs/protection.ts'
import { runs } from '../../support/runs.ts'

const nobody: Level = { access_level: null, user_id: null, group_id: null, deploy_key_id: null }
const level = (access_level: number): Level => ({ ...nobody, access_level })
const mover = (role: number, more: Partial<Mover> = {}): Mover => ({
  userId: 1,
  deployKeyId: null,
  groupIds: new Set(),
  may: () => role >= 30,
  hasLevel: (level) => role >= level,
  ...more,
})
const rule = (name: string, push: Level[], allowed = false): BranchRule => ({
  name,
  allowForcePush: allowed,
  codeOwners: false,
  push,
  merge: [],
  unprotect: [],
})

describe('name patterns', () => {
  test.each([
    ['main', 'main', true],
    ['main', 'Main', false],
    ['main', 'main2', false],
    ['*', 'anything/at/all', true],
    ['release/*', 'release/1.0', true],
    ['release/*', 'release/', true],
    ['release/*', 'release', false],
    ['*-stable', '1-0-stable', true],
    ['*-stable', 'stable', false],
    ['a*b*c', 'a-b-c', true],
    ['a*b*c', 'acb', false],
    ['ab*ba', 'aba', false],
    ['a.c', 'abc', false],
    ['(x|y)*', 'x', false],
    ['', '', true],
  ])('%j means %j: %s', (pattern, name, expected) => {
    expect(matchesPattern(pattern, name)).toBe(expected)
  })

  test('agrees with a regular expression on small inputs', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 })
    const names = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
    fc.assert(
      fc.property(letters, names, (pattern, name) => {
        const expression = new RegExp(`^${pattern.replaceAll('*', '.*')}$`)
        expect(matchesPattern(pattern, name)).toBe(expression.test(name))
      }),
      runs(100, 83, 2000),
    )
  })

  test('thirty stars on a name of ten thousand letters take no time', () => {
    const start = performance.now()
    expect(matchesPattern(`${'*a'.repeat(30)}*b`, 'a'.repeat(10_000))).toBe(false)
    expect(performance.now() - start).toBeLessThan(1000)
  })
})

describe('protection', () => {
  test.each([
    [0, 50, false],
    [30, 20, false],
    [30, 30, true],
    [40, 30, false],
    [40, 50, true],
    [60, 50, false],
  ])('level %i lets role %i through: %s', (required, role, expected) => {
    expect(lets([level(required)], mover(role))).toBe(expected)
  })

  test('level 60 is for administrators, level 0 for nobody at all', () => {
    expect(lets([level(60)], mover(60))).toBe(true)
    expect(lets([level(0)], mover(60))).toBe(false)
  })

  test('a user or group that is named needs the right to push beside it', () => {
    const named = [{ ...nobody, user_id: 1 }]
    expect(lets(named, mover(30))).toBe(true)
    expect(lets(named, mover(20))).toBe(false)
    expect(lets(named, mover(50, { userId: 2 }))).toBe(false)
    const group = [{ ...nobody, group_id: 7 }]
    expect(lets(group, mover(30, { groupIds: new Set([7]) }))).toBe(true)
    expect(lets(group, mover(50))).toBe(false)
  })

  test('of several rules that mean a branch the most permissive decides', () => {
    const rules = [rule('release/*', [level(40)]), rule('release/1', [level(30)], true)]
    expect(mayPushTo(rulesFor(rules, 'release/1'), mover(30))).toBe(true)
    expect(mayPushTo(rulesFor(rules, 'release/2'), mover(30))).toBe(false)
    expect(allowForcePush(rulesFor(rules, 'release/1'))).toBe(true)
    expect(allowForcePush(rulesFor(rules, 'release/2'))).toBe(false)
  })
})

describe('which recorded moves brought a ref to its value', () => {
  const zero = '0'.repeat(40)
  const move = (id: number, old_id: string, new_id: string) => ({ id, old_id, new_id })

  test.each([
    ['the move itself', [move(1, 'a', 'b')], 'b', true],
    ['nothing yet', [move(1, 'a', 'b')], 'a', false],
    ['a creation', [move(1, zero, 'b')], 'b', true],
    ['a deletion', [move(1, 'a', zero)], null, true],
    ['a deletion that did not come', [move(1, 'a', zero)], 'a', false],
    ['another that went on from it', [move(2, 'b', 'c'), move(1, 'a', 'b')], 'c', true],
    ['a rival that won', [move(2, 'a', 'c'), move(1, 'a', 'b')], 'c', false],
    ['deleted again', [move(2, 'b', zero), move(1, 'a', 'b')], null, true],
  ])('%s', (_, later, value, expected) => {
    expect(leadsTo(later, 1, value)).toBe(expected)
  })
})
