import type { Asking } from './queries.ts'

/** What is decided of a job when a runner gets it. */
export interface PayloadInput {
  readonly token: string
  /** Seconds. */
  readonly timeout: number
  readonly runner: Asking & {
    readonly description: string | null
    readonly token_start: string
  }
}
