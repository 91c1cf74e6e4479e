import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { gitStream } from '../../src/git/git-stream.ts'
import { streamBlob } from '../../src/git/objects/blob.ts'
import { commitFiles } from '../support/fast-import.ts'
import { git, gitBytes, openGitWorld } from '../support/git.ts'

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

test('a stream that breaks before anybody reads ends no process, and its reader gets the error', async () => {
  const world = openGitWorld()
  const repo = await world.repository()
  const controller = new AbortController()
  const { signal } = controller
  const broken = [
    gitStream({ repo: repo.path, args: ['cat-file', '--batch'], signal }),
    gitStream({ repo: repo.path, args: ['cat-file', 'blob', '7'.repeat(40)] }),
    gitStream({ repo: join(repo.path, 'gone'), args: ['version'] }),
    gitStream({ repo: repo.path, args: ['version'], signal: AbortSignal.abort() }),
  ]
  controller.abort()
  // Nobody listens until all of them are closed.
  while (!broken.every(({ closed }) => closed)) await sleep(5)
  for (const stream of broken) await expect(buffer(stream)).rejects.toBeDefined()
  const size = 9 * 1024 * 1024
  const id = commitFiles(repo, { files: { large: Buffer.alloc(size) } })
  const blob = git(repo.path, ['rev-parse', `${id}:large`])
  const gone = new AbortController()
  // A large blob whose client goes away before the answer begins.
  const { body } = await streamBlob(repo, blob, {}, gone.signal)
  gone.abort()
  await sleep(100)
  await expect(buffer(body)).rejects.toBeDefined()
  await world.close()
})
