import { expect, test } from 'vitest'
import { claimBytes, leaveBytes, withClaims } from '../../../src/repositories/size-limit/claims.ts'

const limit = 100

test('of two looks that end in the same moment, the second sees the claim of the first', async () => {
  const repo = { key: 'claims-1' }
  let measured: (size: number) => void = () => {}
  const size = new Promise<number>((resolve) => {
    measured = resolve
  })
  const take = (holder: object, bytes: number) =>
    withClaims(
      repo,
      () => size,
      (used) => {
        const fits = used + bytes <= limit
        if (fits) claimBytes(repo, holder, bytes)
        return fits
      },
    )
  const first = {}
  const answers = [take(first, 40), take({}, 40)]
  measured(30)
  expect(await Promise.all(answers)).toEqual([true, false])

  leaveBytes(repo, first)
  expect(await take({}, 70)).toBe(true)
})

test('a claim that is left while a look is open counts for it all the same', async () => {
  const repo = { key: 'claims-2' }
  const holder = {}
  claimBytes(repo, holder, 40)
  const look = withClaims(
    repo,
    async () => {
      leaveBytes(repo, holder)
      return 30
    },
    (used) => used,
  )
  expect(await look).toBe(70)
})
