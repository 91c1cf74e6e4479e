import { expect, test } from 'vitest'
import { isDiskFull, saysDiskFull } from '../../src/base/full-disk.ts'

test.each([
  'fatal: write error: No space left on device',
  "fatal: sha1 file '/data/objects/info/commit-graphs/tmp_graph' write error. Out of diskspace",
  'error: unable to write file: Disk quota exceeded',
])('a program that says "%s" found no room', (said) => {
  expect(saysDiskFull(said)).toBe(true)
})

test('a program that failed for another reason did not', () => {
  expect(saysDiskFull('fatal: bad object HEAD')).toBe(false)
})

test('an error that was caused by a full disk is one', () => {
  const cause = Object.assign(new Error('write'), { code: 'ENOSPC' })
  expect(isDiskFull(new Error('the upload failed', { cause }))).toBe(true)
  expect(isDiskFull(new Error('the upload failed'))).toBe(false)
})
