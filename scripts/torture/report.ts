/** What a round found: figures with their limits, and failures that can be made again. */
export class Report {
  readonly figures: Figure[] = []
  readonly failures: Failure[] = []
  readonly #say: (line: string) => void
  readonly #seen = new Map<string, number>()

  constructor(say: (line: string) => void) {
    this.#say = say
  }

  say(line: string): void {
    this.#say(line)
  }

  /** Notes a number; one beyond its limit is a failure. */
  figure(figure: Figure): void {
    this.figures.push(figure)
    const { name, value, unit, atMost, atLeast } = figure
    const bound = atMost === undefined ? '' : ` (at most ${atMost})`
    const floor = atLeast === undefined ? '' : ` (at least ${atLeast})`
    this.#say(`${name}: ${round(value)} ${unit}${bound}${floor}`)
    const tooHigh = atMost !== undefined && value > atMost
    const tooLow = atLeast !== undefined && value < atLeast
    if (tooHigh || tooLow) this.fail({ what: `${name} is ${round(value)} ${unit}${bound}${floor}` })
  }

  /** Notes a failure; of those with one `kind` only the first is printed, the others are counted. */
  fail(failure: Failure): void {
    const kind = failure.kind ?? failure.what
    const before = this.#seen.get(kind) ?? 0
    this.#seen.set(kind, before + 1)
    if (before > 0) return
    this.failures.push(failure)
    this.#say(`FAILED ${failure.what}`)
    if (failure.again !== undefined) this.#say(`       again: ${failure.again}`)
    if (failure.log !== undefined) this.#say(`       log: ${failure.log}`)
  }

  /** How often a kind of failure was met. */
  countOf(failure: Failure): number {
    return this.#seen.get(failure.kind ?? failure.what) ?? 0
  }

  get failed(): boolean {
    return this.failures.length > 0
  }
}

export interface Figure {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly atMost?: number
  readonly atLeast?: number
}

export interface Failure {
  readonly what: string
  /** Equal failures have one kind; the text itself unless given. */
  readonly kind?: string
  /** One line that makes it again. */
  readonly again?: string
  /** What the server wrote about it. */
  readonly log?: string
}

function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Math.round(value * 10) / 10
}

/** Text in a shell's single quotes. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
