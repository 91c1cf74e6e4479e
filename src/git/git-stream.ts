import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { type GitCommand, startGitInto } from './command.ts'
import { openWidePipe, type Taker } from './wide-pipe.ts'

/** Each piece that is passed on costs several calls. */
const pieceSize = 64 * 1024
/** What is read into; several pieces, one after the other. */
const blockSize = 4 * pieceSize
/** A block with less room than this is done with. */
const leastRoom = 16 * 1024
/** How long less than a piece waits for more, in milliseconds: the pipe holds what comes meanwhile. */
const gatherMs = 2

/**
 * The output of a git program as a stream that ends only when the program ended well: a failure
 * destroys it, so that half an answer is never taken for a whole one. A reader that goes away ends
 * the program.
 */
export function gitStream(command: GitCommand): Readable {
  let program: Program | undefined
  const pieces = new Pieces(
    (piece) => body.push(piece),
    () => program?.from.resume(),
  )
  const body = new Readable({
    highWaterMark: blockSize,
    construct(done) {
      startProgram(command, pieces).then((started) => {
        program = started
        started.whole.then(
          () => {
            pieces.pass()
            body.push(null)
          },
          (error: Error) => body.destroy(error),
        )
        done()
      }, done)
    },
    read: () => program?.from.resume(),
    destroy(error, done) {
      pieces.stop()
      program?.stop()
      done(error)
    },
  })
  return body
}

interface Program {
  readonly from: Socket
  /** Resolves once it ended well and all that it said was read. */
  readonly whole: Promise<unknown>
  stop(): void
}

async function startProgram(command: GitCommand, taker: Taker): Promise<Program> {
  const { from, into } = await openWidePipe(taker)
  try {
    const running = startGitInto(command, into)
    if (command.stdin === undefined) running.stdin.end()
    const read = new Promise((resolve, reject) => {
      from.once('end', resolve)
      from.once('error', reject)
    })
    from.on('error', () => {})
    const stop = () => {
      running.kill()
      from.destroy()
    }
    return { from, whole: Promise.all([running.done, read]), stop }
  } catch (error) {
    from.destroy()
    throw error
  } finally {
    into.destroy()
  }
}

/** Makes pieces of a fair size of what comes, without copying. */
class Pieces implements Taker {
  readonly #give: (piece: Buffer) => boolean
  readonly #goOn: () => void
  #block = Buffer.allocUnsafeSlow(blockSize)
  #given = 0
  #filled = 0
  #timer: NodeJS.Timeout | undefined

  constructor(give: (piece: Buffer) => boolean, goOn: () => void) {
    this.#give = give
    this.#goOn = goOn
  }

  next(): Buffer {
    if (this.#block.length - this.#filled < leastRoom) {
      this.#block = Buffer.allocUnsafeSlow(blockSize)
      this.#given = 0
      this.#filled = 0
    }
    return this.#block.subarray(this.#filled)
  }

  take(count: number): boolean {
    this.#filled += count
    const isDone = this.#block.length - this.#filled < leastRoom
    if (isDone || this.#filled - this.#given >= pieceSize) return this.pass()
    this.#timer ??= setTimeout(() => {
      if (this.pass()) this.#goOn()
    }, gatherMs)
    return false
  }

  /** Gives what has come. Says whether the reader wants more. */
  pass(): boolean {
    this.stop()
    if (this.#filled === this.#given) return true
    const piece = this.#block.subarray(this.#given, this.#filled)
    this.#given = this.#filled
    return this.#give(piece)
  }

  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
  }
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
