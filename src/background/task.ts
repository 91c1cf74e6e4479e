import type { z } from 'zod'

export type Lane = 'quick' | 'slow' | 'outbound' | 'mirroring' | 'gathering'

/** A background task: what it is called, what it needs, and what it does. It may run twice, and must not mind. */
export interface Task<C, P> {
  /** `area.verb`, such as `projects.delete`; never changed, since rows in the table carry it. */
  readonly name: string
  readonly payload: z.ZodType<P>
  /** How often it is tried before it is kept as dead. */
  readonly attempts: number
  /**
   * Slow ones (imports, clean-ups) have places of their own, so that they hold up nothing quick; so have those that wait
   * for other servers, those that move whole repositories there and back, and those that wait for more of the same.
   */
  readonly lane: Lane
  /** Longest single run, in milliseconds; then the signal is raised, and it counts as failed. */
  readonly timeout: number
  readonly handler: (ctx: C, payload: P, signal: AbortSignal) => Promise<void>
  /**
   * What is done, in one transaction with keeping it as dead, when it has failed for good: nothing may wait for ever for
   * what does not come.
   */
  readonly givenUp?: (ctx: C, payload: P, reason: string) => Promise<void>
}

/** A task whose payload type is known only to itself, as lists hold them. */
// biome-ignore lint/suspicious/noExplicitAny: a list holds tasks of every payload; the runner parses before it calls
export type AnyTask<C> = Task<C, any>

/** Declares a task. */
export function task<C, P>(declared: {
  readonly name: string
  readonly payload: z.ZodType<P>
  readonly attempts?: number
  readonly lane?: Lane
  readonly timeout?: number
  readonly handler: (ctx: C, payload: P, signal: AbortSignal) => Promise<void>
  readonly givenUp?: (ctx: C, payload: P, reason: string) => Promise<void>
}): Task<C, P> {
  return { attempts: 12, lane: 'quick', timeout: 30 * 60_000, ...declared }
}
