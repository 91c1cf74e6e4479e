/** Cuts a stream into blocks of exactly one size; the first may have another, the last one may be smaller. */
export async function* inBlocks(
  source: AsyncIterable<Buffer>,
  size: number,
  first = size,
): AsyncGenerator<Buffer> {
  let block = Buffer.allocUnsafe(first)
  let filled = 0
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      const copied = piece.copy(block, filled, at)
      at += copied
      filled += copied
      if (filled < block.length) continue
      yield block
      block = Buffer.allocUnsafe(size)
      filled = 0
    }
  }
  if (filled > 0) yield block.subarray(0, filled)
}
