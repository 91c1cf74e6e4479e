import { expect, test } from 'vitest'
import { backupRound } from '../../scripts/torture/backups/round.ts'
import { cases } from '../support/runs.ts'
import { runShort } from './short-round.ts'

test('backups that are killed, with their server or without, leave whole ones or none', async () => {
  const { failures } = await runShort(backupRound, { count: cases(1, 10), seed: 8 })
  expect(failures).toEqual([])
}, 1_800_000)
