import { Socket } from 'node:net'

/*
 * Pieces of streams go from an engine process to the main process through a pipe of their own: messages
 * would be copied and parsed twice on each side, which for an archive costs more than making it. Before
 * each piece stand the id of its call and its length, as two 32-bit numbers.
 */

const headerSize = 8

/** The end in an engine process. */
export class PieceWriter {
  readonly #pipe: Socket

  constructor(fd: number) {
    this.#pipe = new Socket({ fd, readable: false, writable: true })
    // The main process is gone, and so are we.
    this.#pipe.on('error', () => {})
    // What keeps this process alive is its channel to the main process.
    this.#pipe.unref()
  }

  write(id: number, bytes: Uint8Array): void {
    const header = Buffer.allocUnsafe(headerSize)
    header.writeUInt32LE(id % 2 ** 32, 0)
    header.writeUInt32LE(bytes.length, 4)
    this.#pipe.cork()
    this.#pipe.write(header)
    this.#pipe.write(bytes)
    this.#pipe.uncork()
  }
}

/** The end in the main process: hands out what has come of a piece, without waiting for the rest. */
export class PieceReader {
  readonly #take: (id: number, bytes: Buffer, isLast: boolean) => void
  #header: Buffer = Buffer.alloc(0)
  #id = 0
  #missing = 0

  constructor(take: (id: number, bytes: Buffer, isLast: boolean) => void) {
    this.#take = take
  }

  read(bytes: Buffer): void {
    let rest = bytes
    while (rest.length > 0) {
      rest = this.#missing > 0 ? this.#body(rest) : this.#head(rest)
    }
  }

  /** Takes from the start of `bytes` what belongs to the piece, and gives what is left. */
  #body(bytes: Buffer): Buffer {
    const part = bytes.subarray(0, this.#missing)
    this.#missing -= part.length
    this.#take(this.#id, part, this.#missing === 0)
    return bytes.subarray(part.length)
  }

  #head(bytes: Buffer): Buffer {
    const taken = headerSize - this.#header.length
    this.#header = Buffer.concat([this.#header, bytes.subarray(0, taken)])
    if (this.#header.length < headerSize) return Buffer.alloc(0)
    this.#id = this.#header.readUInt32LE(0)
    this.#missing = this.#header.readUInt32LE(4)
    this.#header = Buffer.alloc(0)
    if (this.#missing === 0) this.#take(this.#id, Buffer.alloc(0), true)
    return bytes.subarray(taken)
  }
}
