/**
 * The position of an id among sorted ones that follow each other in a buffer, looked for from `from` up to `to`; −1 when
 * it is not there.
 */
export function searchIds(ids: Buffer, from: number, to: number, id: Buffer): number {
  const width = id.length
  let low = from
  let high = to
  while (low < high) {
    const middle = (low + high) >> 1
    const order = ids.compare(id, 0, width, middle * width, (middle + 1) * width)
    if (order === 0) return middle
    if (order < 0) low = middle + 1
    else high = middle
  }
  return -1
}
