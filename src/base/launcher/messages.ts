/** Asks for a program, on a connection of its own. */
export interface LaunchRequest {
  readonly id: string
  readonly program: string
  readonly args: readonly string[]
  readonly cwd: string | undefined
  readonly env: NodeJS.ProcessEnv
  /** How many ends it has: those of standard input, output and error, and more. */
  readonly ends: number
  readonly detached: boolean
}

/** What a connection says to the launcher, each as a line of JSON. */
export type ToLauncher =
  | LaunchRequest
  /** This connection becomes that end of a program. */
  | { readonly id: string; readonly end: number }
  /** The program, or the group of which it is the head, gets a signal. */
  | { readonly signal: NodeJS.Signals; readonly group: boolean }

/** What the connection that asked hears: that the program runs, and last how it ended or why it did not start. */
export type FromLauncher =
  | { readonly pid: number }
  | { readonly code: number | null; readonly signal: NodeJS.Signals | null }
  | { readonly failed: string; readonly errno: string }
