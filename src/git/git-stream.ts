import { Readable } from 'node:stream'
import { type GitCommand, startGit } from './command.ts'

/** git writes some kilobytes at a time; each piece that is passed on costs several calls. */
const pieceSize = 64 * 1024
/** How long less than a piece waits for more, in milliseconds. */
const patience = 2

/**
 * The output of a git program as a stream that ends only when the program ended well: a failure
 * destroys it, so that half an answer is never taken for a whole one. A reader that goes away ends
 * the program.
 */
export function gitStream(command: GitCommand): Readable {
  const running = startGit(command)
  const { stdout } = running
  if (command.stdin === undefined) running.stdin.end()
  let held: Buffer[] = []
  let size = 0
  let timer: NodeJS.Timeout | undefined
  const body = new Readable({
    highWaterMark: 4 * pieceSize,
    read: () => stdout.resume(),
    destroy(error, done) {
      clearTimeout(timer)
      running.kill()
      done(error)
    },
  })
  const pass = () => {
    clearTimeout(timer)
    timer = undefined
    if (size === 0) return
    const piece = held.length === 1 ? held[0] : Buffer.concat(held, size)
    held = []
    size = 0
    if (!body.push(piece)) stdout.pause()
  }
  stdout.on('data', (chunk: Buffer) => {
    held.push(chunk)
    size += chunk.length
    if (size >= pieceSize) pass()
    else timer ??= setTimeout(pass, patience)
  })
  running.done.then(
    () => {
      pass()
      body.push(null)
    },
    (error: Error) => body.destroy(error),
  )
  return body
}

/** The stream once its first bytes are there: what fails before is an ordinary error. */
export function begun(stream: Readable): Promise<Readable> {
  return new Promise((resolve, reject) => {
    stream.once('error', reject)
    stream.once('readable', () => {
      stream.off('error', reject)
      // It may fail before its reader listens; unheard, that would end the process. A reader still sees it destroyed.
      stream.on('error', () => {})
      resolve(stream)
    })
  })
}
