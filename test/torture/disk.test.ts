import { expect, test } from 'vitest'
import { diskRound } from '../../scripts/torture/disk/round.ts'
import { runShort } from './short-round.ts'

test('a full disk stops writes alone, and they go on when there is space', async ({ skip }) => {
  const { failures, lines } = await runShort(diskRound, { count: 1 })
  skip(
    lines.some((line) => line.startsWith('left out')),
    'no file system may be mounted here',
  )
  expect(failures).toEqual([])
}, 300_000)
