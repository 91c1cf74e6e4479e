import { expect, test } from 'vitest'
import { killsRound } from '../../scripts/torture/kills/round.ts'
import { runShort } from './short-round.ts'

test('processes that are killed under writes lose nothing and leave nothing behind', async () => {
  const { failures } = await runShort(killsRound, { count: 4 })
  expect(failures).toEqual([])
}, 300_000)
