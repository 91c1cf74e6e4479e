import { expect, test } from 'vitest'
import { cutsRound } from '../../scripts/torture/hostile/cuts.ts'
import { runShort } from './short-round.ts'

test('connections that break off in bodies of every kind leave nothing behind', async () => {
  const { failures } = await runShort(cutsRound, { count: 150 })
  expect(failures).toEqual([])
}, 300_000)
