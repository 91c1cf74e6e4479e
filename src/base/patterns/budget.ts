import { Timeslice } from '../timeslice.ts'
import { runInWorker, WorkerLimitError } from '../workers/worker-pool.ts'
import { isKept, matchesShort } from './compiled.ts'
import { type Pattern, PatternLimitError, PatternSyntaxError, sizeOf } from './pattern.ts'
import type { JoinedWork, PatternResult, PatternWork } from './work.ts'

/** Instructions times characters of one text, and of all that a budget compares by itself: some two seconds. */
const MOST_WORK = 50_000_000
/** Milliseconds in a worker. */
const MOST_MS = 3000
/** What is compared at once, in a millisecond or two, instead of in a worker. */
const QUICK = 20_000
const QUICK_SIZE = 200
/** So much of that for one budget; what follows goes to a worker, too. */
const MOST_QUICK = 1_000_000
/** To compile an instruction takes as long as to compare so many characters with it. */
const COMPILING = 100
/** What takes longer than some twenty milliseconds takes the caller's share of the workers. */
const LONG = 500_000
/** Others get their turn after so many milliseconds. */
const SLICE_MS = 10

export interface PatternOptions {
  /** Whose share of the workers' time it takes; undefined for the server's own. */
  readonly caller?: string | undefined
  /** Milliseconds in workers, all comparisons together. */
  readonly timeoutMs?: number | undefined
}

/**
 * Compares texts with patterns of users. All that one request, one push or one configuration asks for is counted together.
 * Fails with `PatternLimitError` or `PatternSyntaxError`.
 */
export class PatternBudget {
  readonly #caller: string | undefined
  #ms: number
  #work = MOST_WORK
  #quick = MOST_QUICK
  readonly #lists = new WeakMap<readonly string[], KnownList>()
  readonly #slice = new Timeslice(SLICE_MS)

  constructor({ caller, timeoutMs = MOST_MS }: PatternOptions = {}) {
    this.#caller = caller
    this.#ms = timeoutMs
  }

  /** Whether a text matches a pattern. */
  async test(pattern: Pattern, text: string): Promise<boolean> {
    this.#work -= workOf([pattern], [text])
    if (this.#work < 0) throw new PatternLimitError('work')
    const [found = false] = await this.testEach([pattern], [text])
    return found
  }

  /** Of each text, whether any of the patterns matches it. Many texts are counted by the time that they take. */
  async testEach(patterns: readonly Pattern[], texts: readonly string[]): Promise<boolean[]> {
    const work = workOf(patterns, texts)
    if (!this.#isQuick(patterns, work)) {
      return await this.#inWorker<boolean[]>('testEach', { patterns, texts }, work)
    }
    if (this.#slice.isOver()) await this.#slice.yield()
    return texts.map((text) => patterns.some((pattern) => matchesShort(pattern, text)))
  }

  /**
   * Whether any of the texts matches a pattern. There may be very many texts without a zero byte, such as paths; one list may be
   * asked about again and again.
   */
  async testAny(pattern: Pattern, texts: readonly string[]): Promise<boolean> {
    const known = this.#lists.get(texts) ?? { answers: new Map(), joined: undefined }
    this.#lists.set(texts, known)
    const key = JSON.stringify(pattern)
    const answer = known.answers.get(key) ?? this.#findAny(pattern, texts, known)
    known.answers.set(key, answer)
    return await answer
  }

  async #findAny(pattern: Pattern, texts: readonly string[], list: KnownList): Promise<boolean> {
    if (texts.length === 0) return false
    const work = workOf([pattern], texts)
    if (this.#isQuick([pattern], work)) {
      return texts.some((text) => matchesShort(pattern, text))
    }
    list.joined ??= texts.join('\0')
    return await this.#inWorker<boolean>('testAny', { pattern, joined: list.joined }, work)
  }

  #isQuick(patterns: readonly Pattern[], work: number): boolean {
    const sizes = patterns.filter((one) => !isKept(one)).map(sizeOf)
    const size = sizes.reduce((sum, one) => sum + one, 0)
    const cost = work + size * COMPILING
    if (size > QUICK_SIZE || work > QUICK || cost > this.#quick) return false
    this.#quick -= cost
    return true
  }

  async #inWorker<Output>(name: string, input: WorkInput, work: number): Promise<Output> {
    if (this.#ms <= 0) throw new PatternLimitError('time')
    const result = await runInWorker<WorkInput, PatternResult<Output>>(input, {
      module: new URL('./work.ts', import.meta.url),
      name,
      timeoutMs: this.#ms,
      isLong: work > LONG,
      caller: this.#caller,
    }).catch((error: unknown) => {
      if (!(error instanceof WorkerLimitError)) throw error
      if (error.limit === 'time') this.#ms = 0
      throw new PatternLimitError(error.limit === 'memory' ? 'work' : error.limit)
    })
    this.#ms -= result.ms
    if ('limit' in result) throw new PatternLimitError(result.limit)
    if ('syntax' in result) throw new PatternSyntaxError(result.syntax)
    return result.value
  }
}

interface KnownList {
  readonly answers: Map<string, Promise<boolean>>
  joined: string | undefined
}

type WorkInput = PatternWork | JoinedWork

/** Instructions times characters; fails where a pattern is too large, or one text too long for it. */
function workOf(patterns: readonly Pattern[], texts: readonly string[]): number {
  const size = patterns.reduce((sum, pattern) => sum + sizeOf(pattern), 0)
  let characters = 0
  let longest = 0
  for (const { length } of texts) {
    characters += length + 1
    if (length > longest) longest = length
  }
  const largest = Math.max(0, ...patterns.map(sizeOf))
  if (largest * longest > MOST_WORK) throw new PatternLimitError('work')
  return size * characters
}
