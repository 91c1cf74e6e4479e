import { closeSync, openSync, readSync } from 'node:fs'

// A file number is given back once nobody can read through it any more: closing it earlier could make a
// running read hit whatever file got the number next.
const closer = new FinalizationRegistry<number>((file) => {
  try {
    closeSync(file)
  } catch {
    // Closed with the process.
  }
})

/** A file that is read at positions. */
export class OpenFile {
  readonly #file: number

  constructor(path: string) {
    this.#file = openSync(path, 'r')
    closer.register(this, this.#file)
  }

  /** The bytes there are at a position, at most `length`. */
  read(length: number, position: number, bytes = Buffer.allocUnsafeSlow(length)): Buffer {
    return bytes.subarray(0, readSync(this.#file, bytes, 0, length, position))
  }
}
