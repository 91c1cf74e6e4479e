import { expect, test } from 'vitest'
import { fuzzRound } from '../../scripts/torture/fuzz/round.ts'
import { cases } from '../support/runs.ts'
import { runShort } from './short-round.ts'

test('no operation fails on the server, whatever it is given', async () => {
  const { failures } = await runShort(fuzzRound, { count: cases(1000, 50_000) })
  expect(failures).toEqual([])
}, 1_800_000)
