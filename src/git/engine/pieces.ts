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
  /** The beginning of a header whose rest has not come. */
  #begun: Buffer = Buffer.alloc(0)
  #id = 0
  #missing = 0

  constructor(take: (id: number, bytes: Buffer, isLast: boolean) => void) {
    this.#take = take
  }

  read(bytes: Buffer): void {
    let rest = this.#begun.length > 0 ? Buffer.concat([this.#begun, bytes]) : bytes
    while (rest.length > 0) {
      if (this.#missing === 0) {
        if (rest.length < headerSize) break
        this.#id = rest.readUInt32LE(0)
        this.#missing = rest.readUInt32LE(4)
        rest = rest.subarray(headerSize)
      }
      const part = rest.subarray(0, this.#missing)
      this.#missing -= part.length
      rest = rest.subarray(part.length)
      const isLast = this.#missing === 0
      if (part.length > 0 || isLast) this.#take(this.#id, part, isLast)
    }
    this.#begun = rest
  }
}
