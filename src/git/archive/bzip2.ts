import { spawn } from 'node:child_process'
import { Readable } from 'node:stream'
import { fallBehind } from '../../base/priority.ts'
import { assertStarted } from '../command.ts'
import { GitError } from '../error.ts'

/** What every file begins with, 9 being the size of its blocks. */
const head = Buffer.from('BZh9')

/**
 * bzip2 by the program of that name. The head is given at once, so that a download begins before the first block of
 * 900 kB is full.
 */
export async function* bzip2(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const child = spawn('bzip2', ['-9', '-c'], { stdio: ['pipe', 'pipe', 'ignore'] })
  assertStarted(child)
  fallBehind(child.pid)
  const input = Readable.from(source, { objectMode: false })
  let failure: Error | undefined
  const stop = (error: Error) => {
    failure ??= error
    child.kill('SIGKILL')
  }
  input.on('error', stop)
  // A program that ended early breaks the pipe; its exit code tells.
  child.stdin.on('error', () => {})
  input.pipe(child.stdin)
  const ended = new Promise<number | null>((resolve) => {
    child.on('error', (error) => {
      failure ??= new GitError('failed', `bzip2: ${error.message}`)
      resolve(null)
    })
    child.on('close', resolve)
  })
  try {
    yield head
    let left = head.length
    for await (const piece of child.stdout as AsyncIterable<Buffer>) {
      const known = Math.min(left, piece.length)
      left -= known
      yield piece.subarray(known)
    }
    const code = await ended
    if (failure) throw failure
    if (code !== 0) throw new GitError('failed', `bzip2 ended with ${code}`)
  } finally {
    child.kill('SIGKILL')
    input.destroy()
  }
}
