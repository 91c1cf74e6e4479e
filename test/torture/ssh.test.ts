import { expect, test } from 'vitest'
import { sshRound } from '../../scripts/torture/ssh/round.ts'
import { runShort } from './short-round.ts'

test('messages over SSH, in whatever form, end no more than their connection, and let nobody in', async () => {
  const { failures } = await runShort(sshRound, { count: 4000 })
  expect(failures).toEqual([])
}, 300_000)
