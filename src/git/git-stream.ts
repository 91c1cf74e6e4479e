import { Readable } from 'node:stream'
import { type GitCommand, startGit } from './command.ts'

/**
 * The output of a git program as a stream that ends only when the program ended well: a failure
 * destroys it, so that half an answer is never taken for a whole one. A reader that goes away ends
 * the program.
 */
export function gitStream(command: GitCommand): Readable {
  return Readable.from(output(command), { objectMode: false, highWaterMark: 256 * 1024 })
}

async function* output(command: GitCommand): AsyncGenerator<Buffer> {
  const running = startGit(command)
  if (command.stdin === undefined) running.stdin.end()
  let whole = false
  try {
    for await (const chunk of running.stdout) yield chunk
    await running.done
    whole = true
  } finally {
    if (!whole) running.kill()
  }
}
