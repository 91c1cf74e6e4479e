import { expect, test } from 'vitest'
import { lanesOf, widthOf } from '../../../src/web/code/graph/lanes.ts'

const commit = (id: string, ...parents: string[]) => ({ id, parent_ids: parents })

test('commits in a row share one lane, which goes on below the page', () => {
  const rows = lanesOf([commit('c', 'b'), commit('b', 'a')])
  expect(rows).toEqual([
    { at: 0, into: [], past: [], out: [0], below: [0] },
    { at: 0, into: [0], past: [], out: [0], below: [0] },
  ])
  expect(widthOf(rows)).toBe(1)
})

test('a branch has a lane from its merge to where it began', () => {
  const rows = lanesOf([
    commit('m', 'b', 'x'),
    commit('x', 'a'),
    commit('b', 'a'),
    commit('a', 'root'),
    commit('root'),
  ])
  expect(rows[0]).toMatchObject({ at: 0, out: [0, 1] })
  expect(rows[1]).toMatchObject({ at: 1, into: [1], past: [0], out: [1] })
  expect(rows[2]).toMatchObject({ at: 0, into: [0], past: [1], out: [0] })
  expect(rows[3]).toMatchObject({ at: 0, into: [0, 1], past: [], out: [0] })
  expect(rows[4]).toMatchObject({ at: 0, into: [0], out: [], below: [] })
})

test('a lane that has ended is used again, and two merges of one commit share its lane', () => {
  const rows = lanesOf([
    commit('m2', 'm1', 'x'),
    commit('m1', 'a', 'x'),
    commit('x', 'a'),
    commit('a'),
    commit('other'),
  ])
  expect(rows[1]).toMatchObject({ at: 0, out: [0, 1], past: [1] })
  expect(rows[2]).toMatchObject({ at: 1, into: [1] })
  expect(rows[4]).toMatchObject({ at: 0, into: [], below: [] })
  expect(widthOf(rows)).toBe(2)
})

test('an octopus has a lane for each parent, and a parent that came before its child none', () => {
  const rows = lanesOf([commit('a'), commit('o', 'a', 'b', 'c', 'd')])
  expect(rows[1]).toMatchObject({ at: 0, out: [0, 1, 2] })
  expect(widthOf(lanesOf([]))).toBe(1)
})
