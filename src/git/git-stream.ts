import { Readable } from 'node:stream'
import { type GitCommand, type RunningGit, startGit } from './command.ts'

/** Each piece that is passed on costs several calls, and git writes an archive in ten kilobytes at a time. */
const pieceSize = 128 * 1024

/**
 * The output of a git program as a stream that ends only when the program ended well: a failure
 * destroys it, so that half an answer is never taken for a whole one. A reader that goes away ends
 * the program.
 */
export function gitStream(command: GitCommand): Readable {
  let running: RunningGit
  try {
    running = startGit(command)
  } catch (error) {
    return withErrorListener(new Readable()).destroy(error as Error)
  }
  const { stdin, stdout, done, kill } = running
  if (command.stdin === undefined) stdin.end()
  const body = new Readable({
    highWaterMark: 2 * pieceSize,
    read: () => stdout.resume(),
    destroy(error, closed) {
      kill()
      // Left unread, it would never close.
      stdout.destroy()
      closed(error)
    },
  })
  let piece = Buffer.allocUnsafeSlow(pieceSize)
  let filled = 0
  const pass = () => {
    const wantsMore = filled === 0 || body.push(piece.subarray(0, filled))
    piece = Buffer.allocUnsafeSlow(pieceSize)
    filled = 0
    return wantsMore
  }
  stdout.on('data', (chunk: Buffer) => {
    let wantsMore = true
    for (let at = 0; at < chunk.length; ) {
      const copied = chunk.copy(piece, filled, at)
      at += copied
      filled += copied
      if (filled === pieceSize) wantsMore = pass()
    }
    if (!wantsMore) stdout.pause()
  })
  done.then(
    () => {
      pass()
      body.push(null)
    },
    (error: Error) => body.destroy(error),
  )
  return withErrorListener(body)
}

/** It may fail before its reader listens, which would end the process without a listener. A reader still sees it destroyed. */
function withErrorListener(stream: Readable): Readable {
  return stream.on('error', () => {})
}

/** The stream once its first bytes are there: what fails before is an ordinary error. */
export function begun(stream: Readable): Promise<Readable> {
  return new Promise((resolve, reject) => {
    stream.once('error', reject)
    stream.once('readable', () => {
      stream.off('error', reject)
      resolve(stream)
    })
  })
}
