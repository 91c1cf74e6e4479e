import { workerTask } from '../workers/worker-task.ts'
import { patternMatcher } from './compiled.ts'
import {
  type Pattern,
  type PatternLimit,
  PatternLimitError,
  PatternSyntaxError,
} from './pattern.ts'

export interface PatternWork {
  readonly patterns: readonly Pattern[]
  readonly texts: readonly string[]
}

export interface JoinedWork {
  readonly pattern: Pattern
  /** Texts with zero bytes between them: one text is passed much faster than very many. */
  readonly joined: string
}

/** What came of it, and how long it took; an error's class does not survive the way back from a worker. */
export type PatternResult<T> =
  | { readonly ms: number; readonly value: T }
  | { readonly ms: number; readonly limit: PatternLimit }
  | { readonly ms: number; readonly syntax: string }

function measured<Input, T>(act: (input: Input) => T) {
  return workerTask((input: Input): PatternResult<T> => {
    const start = performance.now()
    const ms = () => performance.now() - start
    try {
      return { value: act(input), ms: ms() }
    } catch (error) {
      if (error instanceof PatternLimitError) return { limit: error.limit, ms: ms() }
      if (error instanceof PatternSyntaxError) return { syntax: error.message, ms: ms() }
      throw error
    }
  })
}

/** Of each text, whether any of the patterns matches it. One pattern after the other: each may take 8 MB while it is used. */
export const testEach = measured(({ patterns, texts }: PatternWork): boolean[] => {
  const found = texts.map(() => false)
  for (const pattern of patterns) {
    const matches = patternMatcher(pattern)
    for (const [at, text] of texts.entries()) found[at] ||= matches(text)
  }
  return found
})

/** Whether any of the texts matches the pattern. */
export const testAny = measured(({ pattern, joined }: JoinedWork): boolean =>
  joined.split('\0').some(patternMatcher(pattern)),
)
