/**
 * How often a property is tried: the same cases each time, so that nobody's change fails by chance. `FC_RUNS=400 FC_SEED=5`
 * looks further.
 */
export function runs(usual: number, seed: number): { numRuns: number; seed: number } {
  const { FC_RUNS, FC_SEED } = process.env
  return { numRuns: Number(FC_RUNS ?? usual), seed: Number(FC_SEED ?? seed) }
}
