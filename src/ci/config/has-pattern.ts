import { PatternBudget } from '../../base/patterns/budget.ts'
import { type Pattern, PatternLimitError, PatternSyntaxError } from '../../base/patterns/pattern.ts'
import { configFault } from './fault.ts'

/** Milliseconds in workers for all patterns of one configuration: rules may look at all paths of a large repository. */
const LONGEST_MS = 10_000

/** What all patterns of a configuration with all that it includes may take. */
export function configPatterns(caller: string | undefined): PatternBudget {
  return new PatternBudget({ caller, timeoutMs: LONGEST_MS })
}

/** Whether a text fits a pattern of a configuration; one that is none fits nothing. Refuses what takes too long. */
export async function hasPattern(
  patterns: PatternBudget,
  pattern: Pattern,
  text: string,
): Promise<boolean> {
  try {
    return await patterns.test(pattern, text)
  } catch (error) {
    if (error instanceof PatternSyntaxError) return false
    throw faultOf(error, 'regular expression', pattern.source)
  }
}

/** What is said of a pattern that was not compared. */
export function faultOf(error: unknown, kind: string, source: string): unknown {
  if (!(error instanceof PatternLimitError)) return error
  const begin = source.length > 50 ? `${source.slice(0, 50)}…` : source
  return configFault(`${kind} ${begin} ${error.message}`)
}
