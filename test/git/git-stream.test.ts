import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { gitStream } from '../../src/git/git-stream.ts'
import { commitFiles } from '../support/fast-import.ts'
import { gitBytes, openGitWorld } from '../support/git.ts'

test('what a program says comes through a slow reader as it was, and its failure breaks it', async () => {
  const world = openGitWorld()
  const repo = await world.repository()
  const data = randomBytes(1_500_000)
  const id = commitFiles(repo, { files: { big: data } })
  const blob = `${id}:big`
  const whole = await buffer(gitStream({ repo: repo.path, args: ['cat-file', 'blob', blob] }))
  expect(whole.equals(gitBytes(repo.path, ['cat-file', 'blob', blob]))).toBe(true)
  const slow: Buffer[] = []
  for await (const piece of gitStream({ repo: repo.path, args: ['cat-file', 'blob', blob] })) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    slow.push(Buffer.from(piece))
  }
  expect(Buffer.concat(slow).equals(data)).toBe(true)
  // Also what a program writes line by line.
  const lines = Array.from({ length: 60_000 }, (_, i) => `${i} ${i * 7919}\n`).join('')
  const text = commitFiles(repo, { files: { text: lines } })
  const diff = ['diff-tree', '--root', '-p', text]
  const patch: Buffer[] = []
  for await (const piece of gitStream({ repo: repo.path, args: diff })) {
    await new Promise((resolve) => setTimeout(resolve, 2))
    patch.push(Buffer.from(piece))
  }
  expect(Buffer.concat(patch).equals(gitBytes(repo.path, diff))).toBe(true)
  const empty = gitStream({ repo: repo.path, args: ['for-each-ref', 'refs/none'] })
  expect((await buffer(empty)).length).toBe(0)
  const failing = gitStream({ repo: repo.path, args: ['cat-file', 'blob', '7'.repeat(40)] })
  await expect(buffer(failing)).rejects.toMatchObject({ code: 'failed' })
  await world.close()
})

test('a stream that is given up before it began leaves nothing behind', async () => {
  const world = openGitWorld()
  const repo = await world.repository()
  const stream = gitStream({ repo: repo.path, args: ['cat-file', '--batch'] })
  stream.destroy()
  await once(stream, 'close')
  const controller = new AbortController()
  controller.abort()
  const { signal } = controller
  const late = gitStream({ repo: repo.path, args: ['version'], signal })
  await expect(buffer(late)).rejects.toMatchObject({ code: 'timeout' })
  await world.close()
})
