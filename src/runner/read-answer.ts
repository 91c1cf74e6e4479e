/** Of an answer that nobody reads, so much is waited for before the connection is given up. */
const MOST_SKIPPED = 64 * 1024

export class TooLongAnswerError extends Error {}

/** The bytes of an answer. One of more bytes, once they are unpacked, is an error, and its rest stays unread. */
export async function* piecesOf(response: Response, most: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > most) throw new TooLongAnswerError(`the server answers with more than ${most} bytes`)
    yield piece
  }
}

/** As `piecesOf`, as text. */
export async function textOf(response: Response, most: number): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of piecesOf(response, most)) pieces.push(piece)
  return Buffer.concat(pieces).toString('utf8')
}

/** Waits for the end of an answer of which only the status counts, so that its connection can be used again. */
export async function skip(response: Response): Promise<void> {
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > MOST_SKIPPED) return
  }
}
