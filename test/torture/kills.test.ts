import { expect, test } from 'vitest'
import { killsRound } from '../../scripts/torture/kills/round.ts'
import { cases } from '../support/runs.ts'
import { runShort } from './short-round.ts'

test('processes that are killed under writes lose nothing and leave nothing behind', async () => {
  const { failures } = await runShort(killsRound, { count: cases(2, 25) })
  expect(failures).toEqual([])
}, 1_800_000)
