/** Events of an error that are kept beside the last one. */
const MOST_KEPT = 50

/** Whether an event is one to keep, when of so many one is: the first is, and then every nth. */
export function isSample(number: number, stride: number): boolean {
  return number === 1 || number % stride === 0
}

/**
 * Of how many events one is to be kept so that at most `MOST_KEPT` are: the stride doubles, so that what was kept before
 * and is still to be kept is spread evenly over all that came.
 */
export function strideFor(events: number, stride: number): number {
  let wide = stride
  while (Math.floor(events / wide) + 1 > MOST_KEPT) wide *= 2
  return wide
}
