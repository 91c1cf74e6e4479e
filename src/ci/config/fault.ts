import { invalid, Problem } from '../../base/problem.ts'

/** What is wrong with a CI configuration, as the answer to whoever wanted a pipeline (docs/contract/D §1.15). */
export function configFault(...texts: readonly string[]): Problem {
  return invalid({ base: [texts.join(', ')] })
}

/** Said of what would take more time and memory than any configuration of use. */
export const TOO_LARGE = 'Invalid configuration format: the configuration is too large'

/** Said where a commit has no configuration at all. */
export const MISSING_CONFIG = 'Missing CI config file'

const places = new WeakMap<Problem, readonly string[]>()

/** As `configFault`, for a key that should not be there: `path` leads to it from the top of the file. */
export function keyFault(path: readonly string[], text: string): Problem {
  const problem = configFault(text)
  places.set(problem, path)
  return problem
}

/** The path of the key that a fault is about; undefined for faults that are about no single key. */
export function faultPath(fault: unknown): readonly string[] | undefined {
  return fault instanceof Problem ? places.get(fault) : undefined
}
