import { expect, test } from 'vitest'
import { cutsRound } from '../../scripts/torture/hostile/cuts.ts'
import { cases } from '../support/runs.ts'
import { runShort } from './short-round.ts'

test('connections that break off in bodies of every kind leave nothing behind', async () => {
  const { failures } = await runShort(cutsRound, { count: cases(60, 1500) })
  expect(failures).toEqual([])
}, 1_800_000)
