import { patternSize } from './size.ts'

/** A regular expression in RE2's syntax, as plain data that crosses to a worker. */
export interface Pattern {
  readonly source: string
  /** `i`, `m` and `s`, as `(?ims)` before the source. */
  readonly flags?: string | undefined
  /** Whether the whole of a text must match; else it is searched for. */
  readonly whole?: boolean | undefined
}

/** Instructions that a pattern may compile to, counted repetitions written out. */
export const MOST_SIZE = 1200

export type PatternLimit = 'size' | 'work' | 'time' | 'waiting'

const reasons: Readonly<Record<PatternLimit, string>> = {
  size: `is too large (it compiles to more than ${MOST_SIZE} instructions)`,
  work: 'takes too long on a text of this length',
  time: 'takes too long',
  waiting: 'cannot be compared now: too many others are being compared',
}

/** Why a pattern that is well formed was not compared with a text. */
export class PatternLimitError extends Error {
  readonly limit: PatternLimit
  constructor(limit: PatternLimit) {
    super(reasons[limit])
    this.limit = limit
  }
}

/** A pattern that is no regular expression; the message says why. */
export class PatternSyntaxError extends Error {}

export function isTooLarge({ source }: Pattern): boolean {
  return patternSize(source) > MOST_SIZE
}

/** The size of a pattern; fails with `PatternLimitError` when it is more than may be compiled. */
export function sizeOf({ source }: Pattern): number {
  const size = patternSize(source)
  if (size > MOST_SIZE) throw new PatternLimitError('size')
  return size
}

/** A pattern that may stand between slashes, with flags behind them: `/source/i`. */
export function slashedPattern(text: string): Pattern {
  return betweenSlashes(text) ?? { source: text }
}

export function betweenSlashes(text: string): Pattern | undefined {
  const found = /^\/(.+)\/([ims]*)$/s.exec(text)
  return found ? { source: found[1] ?? '', flags: found[2] ?? '' } : undefined
}

/** The pattern with its flags in front, as the library takes it. */
export function withFlags({ source, flags = '' }: Pattern): string {
  const letters = [...new Set(flags)].join('')
  return letters === '' ? source : `(?${letters})${source}`
}
