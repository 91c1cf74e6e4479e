import { invalid } from '../problem.ts'
import { keptPattern } from './compiled.ts'
import { type Pattern, PatternLimitError, PatternSyntaxError } from './pattern.ts'

/** What is wrong with a pattern that somebody sets; undefined when it may be used. */
export function patternFault(pattern: Pattern): string | undefined {
  try {
    keptPattern(pattern)
    return undefined
  } catch (error) {
    if (error instanceof PatternLimitError) return error.message
    if (error instanceof PatternSyntaxError)
      return `is an invalid regular expression: ${error.message}`
    throw error
  }
}

/** 400 that names each field whose pattern may not be used; an empty one is none. */
export function assertPatterns(
  given: Readonly<Record<string, Pattern | string | null | undefined>>,
): void {
  const wrong: Record<string, string[]> = {}
  for (const [field, value] of Object.entries(given)) {
    const pattern = typeof value === 'string' ? { source: value } : value
    const fault = pattern?.source ? patternFault(pattern) : undefined
    if (fault !== undefined) wrong[field] = [fault]
  }
  if (Object.keys(wrong).length > 0) throw invalid(wrong)
}
