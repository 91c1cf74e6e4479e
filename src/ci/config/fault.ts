import { invalid, type Problem } from '../../base/problem.ts'

/** What is wrong with a CI configuration, as the answer to whoever wanted a pipeline (docs/contract/D §1.15). */
export function configFault(...texts: readonly string[]): Problem {
  return invalid({ base: [texts.join(', ')] })
}

/** Said where a commit has no configuration at all. */
export const MISSING_CONFIG = 'Missing CI config file'
