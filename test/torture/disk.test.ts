import { expect, test } from 'vitest'
import { diskRound } from '../../scripts/torture/disk/round.ts'
import { cases } from '../support/runs.ts'
import { runShort } from './short-round.ts'

test('a full disk stops writes alone, and they go on when there is space', async ({ skip }) => {
  const { failures, lines } = await runShort(diskRound, { count: cases(1, 3) })
  skip(
    lines.some((line) => line.startsWith('left out')),
    'no file system may be mounted here',
  )
  expect(failures).toEqual([])
}, 1_800_000)
