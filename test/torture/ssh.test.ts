import { expect, test } from 'vitest'
import { sshRound } from '../../scripts/torture/ssh/round.ts'
import { cases } from '../support/runs.ts'
import { runShort } from './short-round.ts'

test('messages over SSH, in whatever form, end no more than their connection, and let nobody in', async () => {
  const { failures } = await runShort(sshRound, { count: cases(1000, 40_000) })
  expect(failures).toEqual([])
}, 1_800_000)
