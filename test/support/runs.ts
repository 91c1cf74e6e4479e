/** Whether rounds that search at random go further than in `npm test`: `npm run test:long` sets it. */
export const isLong = process.env.GITSTEAD_TESTS === 'long'

/** One number for `npm test`, another for `npm run test:long`. */
export function cases(usual: number, long: number): number {
  return isLong ? long : usual
}

/**
 * How often a property is tried: the same cases each time, so that nobody's change fails by chance; five times as many in
 * `npm run test:long`, unless the property names another number. `FC_RUNS=400 FC_SEED=5` looks further.
 */
export function runs(
  usual: number,
  seed: number,
  long = usual * 5,
): { numRuns: number; seed: number } {
  const { FC_RUNS, FC_SEED } = process.env
  return { numRuns: Number(FC_RUNS ?? cases(usual, long)), seed: Number(FC_SEED ?? seed) }
}
