import { expect, test } from 'vitest'
import { fuzzRound } from '../../scripts/torture/fuzz/round.ts'
import { runShort } from './short-round.ts'

test('no operation fails on the server, whatever it is given', async () => {
  const { failures } = await runShort(fuzzRound, { count: 3000 })
  expect(failures).toEqual([])
}, 600_000)
