/** Of an answer that nobody reads, so much is waited for before the connection is given up. */
const MOST_SKIPPED = 64 * 1024

/** An answer as text. One of more bytes, once they are unpacked, is an error, and its rest stays unread. */
export async function textOf(response: Response, most: number): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of response.body ?? []) {
    size += piece.length
    if (size > most) throw new Error('the server answers with more than a runner reads')
    pieces.push(piece)
  }
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
