import { expect, test } from 'vitest'
import { soakRound } from '../../scripts/torture/soak/round.ts'
import { cases } from '../support/runs.ts'
import { runShort } from './short-round.ts'

test('twenty writers and fifty readers are served without a fault', async () => {
  const { lines, failures } = await runShort(soakRound, { seconds: cases(5, 120) })
  expect(failures).toEqual([])
  expect(lines.join('\n')).toMatch(/^writes that failed: 0 /m)
}, 1_800_000)
