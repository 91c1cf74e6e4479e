import { once } from 'node:events'
import { connect } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { gitStream } from '../../src/git/git-stream.ts'
import { openWidePipe, type Taker } from '../../src/git/wide-pipe.ts'
import { commitFiles } from '../support/fast-import.ts'
import { gitBytes, openGitWorld } from '../support/git.ts'

/** Takes everything into one buffer, and stops reading after each read until it is told. */
class Collector implements Taker {
  readonly #whole = Buffer.alloc(3_000_000)
  #filled = 0

  next(): Buffer {
    return this.#whole.subarray(this.#filled, this.#filled + 100_000)
  }

  take(count: number): boolean {
    this.#filled += count
    return false
  }

  get bytes(): Buffer {
    return this.#whole.subarray(0, this.#filled)
  }
}

test('bytes come whole and in order, read only when they are wanted', async () => {
  const collector = new Collector()
  const { into, from } = await openWidePipe(collector)
  const data = Buffer.from(Array.from({ length: 2_000_000 }, (_, i) => (i * 7919) >> 5))
  into.end(data)
  const timer = setInterval(() => from.resume(), 1)
  await once(from, 'end')
  clearInterval(timer)
  expect(collector.bytes.equals(data)).toBe(true)
})

test('several at once have ends that belong together, and nobody else comes in', async () => {
  const first = await openWidePipe(new Collector())
  const port = first.into.localPort ?? 0
  const strangers = Array.from({ length: 5 }, () => connect(port, '127.0.0.1'))
  const collectors = Array.from({ length: 5 }, () => new Collector())
  const pipes = await Promise.all(collectors.map((each) => openWidePipe(each)))
  for (const stranger of strangers) stranger.write('let me in')
  for (const [i, { into }] of pipes.entries()) into.end(`for ${i}`)
  const reads = pipes.map(async ({ from }) => {
    const timer = setInterval(() => from.resume(), 1)
    await once(from, 'end')
    clearInterval(timer)
  })
  await Promise.all(reads)
  expect(collectors.map(({ bytes }) => bytes.toString())).toEqual(
    collectors.map((_, i) => `for ${i}`),
  )
  await (await openWidePipe(new Collector())).from.destroy()
  // Whoever knocked was sent away.
  await Promise.all(
    strangers.map((each) => each.destroyed || once(each.on('error', () => {}).resume(), 'close')),
  )
  first.from.destroy()
  first.into.destroy()
})

test('what a program says comes through a slow reader as it was, and its failure breaks it', async () => {
  const world = openGitWorld()
  const repo = await world.repository()
  const data = Buffer.from(Array.from({ length: 6_000_000 }, (_, i) => (i * 104_729) >> 7))
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
  // Programs that write through the C library cannot bear an end that does not let them wait.
  const lines = Array.from({ length: 300_000 }, (_, i) => `${i} ${i * 7919}\n`).join('')
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
