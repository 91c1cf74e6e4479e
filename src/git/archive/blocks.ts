/** Fills one buffer after the other, as `next` gives them; the last one may not get full. */
export async function* inBlocks(
  source: AsyncIterable<Buffer>,
  next: () => Buffer,
): AsyncGenerator<Buffer> {
  let block = next()
  let filled = 0
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      const copied = piece.copy(block, filled, at)
      at += copied
      filled += copied
      if (filled < block.length) continue
      yield block
      block = next()
      filled = 0
    }
  }
  if (filled > 0) yield block.subarray(0, filled)
}
