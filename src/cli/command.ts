import type { Config } from '../base/config.ts'
import type { Progress } from './progress.ts'

/** One option of a command; every option has a long name. */
export interface Option {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** What stands for the value in the help: `<address>`. */
  readonly value?: string
  readonly doc: string
}

export type Options = Readonly<Record<string, Option>>

/** The values that were given, by the option's name. */
export type Given<O extends Options> = {
  readonly [K in keyof O]?: O[K]['type'] extends 'boolean' ? boolean : string
}

/** What a command is run with. */
export interface Call<O extends Options = Options> {
  readonly args: readonly string[]
  readonly options: Given<O>
  /** The folder of `--data`, where one is named. */
  readonly data?: string | undefined
  /** Everything on standard input. */
  readInput(): Promise<string>
  /** Asks for a secret on a terminal, which does not show it; undefined where there is none. */
  askSecret(question: string): Promise<string | undefined>
  readonly progress: Progress
  /** Aborts when the operator stops the command. */
  readonly signal: AbortSignal
  /** Becomes the server, with these settings before those of the environment. */
  serve(settings: Readonly<Record<string, string>>): Promise<void>
  /** Read at the first use, so that `--help` and `version` need none. */
  config(): Config
}

/** What a command has to say: lines for a person, or data for a program (`--json`). */
export interface Answer {
  readonly lines: readonly string[]
  readonly data: unknown
  /** Says nothing at all, neither lines nor data: the program goes on by itself. */
  readonly silent?: boolean
  /** 0 by default. */
  readonly exitCode?: number
}

export interface Command<O extends Options = Options> {
  /** Its words: `user create`. */
  readonly name: string
  readonly summary: string
  /** The names of its arguments; all are required. */
  readonly args: readonly string[]
  readonly options: O
  /** Whether the work of others on this machine goes first. */
  readonly givesWay?: boolean
  run(call: Call<O>): Promise<Answer>
}

/** Declares a command; its options decide the type of what `run` is given. */
export function command<const O extends Options>(declared: Command<O>): Command {
  // The table of commands forgets which options each has; `run` gets only what these options have parsed.
  return declared as unknown as Command
}

/** A mistake in how a command was called; exit code 2. */
export class UsageError extends Error {}
