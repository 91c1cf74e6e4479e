import { expect, test } from 'vitest'
import { pipelinesRound } from '../../scripts/torture/pipelines/round.ts'
import { runShort } from './short-round.ts'

test('jobs reach their right end though the server is killed while they run', async () => {
  const { failures } = await runShort(pipelinesRound, { count: 3 })
  expect(failures).toEqual([])
}, 400_000)
