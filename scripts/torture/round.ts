import type { Report } from './report.ts'

/** How a round is run. */
export interface RoundOptions {
  readonly seed: number
  /** How many cases; each round says what a case is. */
  readonly count: number
  /** How long a timed part lasts. */
  readonly seconds: number
  /** The first case, to run one again. */
  readonly from: number
  /** Only operations or kinds whose name holds this text. */
  readonly only: string | undefined
  /** An empty folder for the data and whatever else the round makes. */
  readonly folder: string
}

/** One part of the torture. */
export interface Round {
  readonly name: string
  readonly summary: string
  /** What is counted: `requests`, `kills`. */
  readonly unit: string
  /** Cases and seconds of a run of some minutes. */
  readonly usual: { readonly count: number; readonly seconds: number }
  run(options: RoundOptions, report: Report): Promise<void>
}
