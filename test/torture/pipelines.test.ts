import { expect, test } from 'vitest'
import { pipelinesRound } from '../../scripts/torture/pipelines/round.ts'
import { cases } from '../support/runs.ts'
import { runShort } from './short-round.ts'

test('jobs reach their right end though the server is killed while they run', async () => {
  const { failures } = await runShort(pipelinesRound, { count: cases(1, 10) })
  expect(failures).toEqual([])
}, 1_800_000)
