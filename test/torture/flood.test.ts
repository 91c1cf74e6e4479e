import { expect, test } from 'vitest'
import { floodRound } from '../../scripts/torture/hostile/flood.ts'
import { cases } from '../support/runs.ts'
import { runShort } from './short-round.ts'

// Other tests run beside this one, so that times say little here.
const limits = { p99: 2000, memory: 96, disk: 1, warmMs: cases(4000, 10_000) }

test('strangers with large bodies take neither memory nor disk, and others are served', async () => {
  const { failures } = await runShort(floodRound(limits), { count: 60, seconds: cases(3, 60) })
  expect(failures).toEqual([])
}, 1_800_000)
