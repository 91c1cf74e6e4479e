import { Readable } from 'node:stream'
import { lowerPriority } from '../../base/programs/priority.ts'
import { startProgram } from '../../base/programs/program.ts'
import { gitEnvironment } from '../command.ts'
import { GitError } from '../error.ts'

/** What every file begins with, 9 being the size of its blocks. */
const head = Buffer.from('BZh9')

/**
 * bzip2 by the program of that name. The head is given at once, so that a download begins before the first block of
 * 900 kB is full.
 */
export async function* bzip2(source: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const child = startProgram({ program: 'bzip2', args: ['-9', '-c'], env: gitEnvironment() })
  child.stderr.resume()
  child.pid.then(lowerPriority, () => {})
  const input = Readable.from(source, { objectMode: false })
  let failure: Error | undefined
  input.on('error', (error) => {
    failure ??= error
    child.kill('SIGKILL')
  })
  input.pipe(child.stdin)
  try {
    yield head
    let left = head.length
    for await (const piece of child.stdout as AsyncIterable<Buffer>) {
      const known = Math.min(left, piece.length)
      left -= known
      yield piece.subarray(known)
    }
    const { code } = await child.closed.catch((error: Error) => {
      throw new GitError('failed', `bzip2: ${error.message}`)
    })
    if (failure) throw failure
    if (code !== 0) throw new GitError('failed', `bzip2 ended with ${code}`)
  } finally {
    child.kill('SIGKILL')
    input.destroy()
  }
}
