import { LRUCache } from 'lru-cache'
import { RE2JS, RE2JSException } from 're2js'
import {
  MOST_SIZE,
  type Pattern,
  PatternLimitError,
  PatternSyntaxError,
  sizeOf,
  withFlags,
} from './pattern.ts'

/** The one place that knows the library: an expression that takes time linear in the text, size by length. */
export type Compiled = RE2JS

/**
 * Compiles a pattern of a user; fails with `PatternLimitError` or `PatternSyntaxError`. Only for workers and for programs beside
 * the server: in the server `PatternBudget` does it, in a worker where it may take long.
 */
export function compilePattern(pattern: Pattern): Compiled {
  sizeOf(pattern)
  const compiled = compile(withFlags(pattern))
  if (compiled.programSize() > MOST_SIZE) throw new PatternLimitError('size')
  return compiled
}

function compile(source: string): Compiled {
  try {
    return RE2JS.compile(source)
  } catch (error) {
    if (error instanceof RE2JSException) throw new PatternSyntaxError(error.message)
    throw error
  }
}

/** Compiled patterns of this process together, in instructions: some hundred bytes each. */
const MOST_KEPT = 50_000

const kept = new LRUCache<string, Compiled>({ maxSize: MOST_KEPT, max: 2000 })

export function isKept(pattern: Pattern): boolean {
  return kept.has(withFlags(pattern))
}

/** As `compilePattern`, from what is kept when it is there. */
export function keptPattern(pattern: Pattern): Compiled {
  const key = withFlags(pattern)
  const known = kept.get(key)
  if (known) return known
  const fresh = compilePattern(pattern)
  kept.set(key, fresh, { size: fresh.programSize() + key.length })
  return fresh
}

/** Whether a short text matches. It leaves nothing behind: the library's faster way keeps up to 8 MB for each pattern. */
export function matchesShort(pattern: Pattern, text: string): boolean {
  const matcher = keptPattern(pattern).matcher(text)
  return pattern.whole ? matcher.matches() : matcher.find()
}

/** As many texts as there may be, by the library's faster way. */
export function patternMatcher(pattern: Pattern): (text: string) => boolean {
  const compiled = compilePattern(pattern)
  return pattern.whole ? (text) => compiled.testExact(text) : (text) => compiled.test(text)
}

/** A text as a pattern that matches it alone. */
export function quote(text: string): string {
  return RE2JS.quote(text)
}
