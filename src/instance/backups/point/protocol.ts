import { z } from 'zod'

/*
 * What a command that makes a backup asks the server of the data folder, over a socket in that folder: one JSON object a
 * line, each with one answer. Everything that it holds ends with the connection.
 */

export const request = z.object({
  /** `begin` holds deletions and watches refs, `close` keeps refs from moving, `open` lets them move again. */
  want: z.enum(['begin', 'close', 'open']),
})

export const answers = {
  begin: z.object({ pid: z.number() }),
  /** The keys of repositories whose refs have moved since `begin`. */
  close: z.object({ moved: z.array(z.string()) }),
  /** False when they have moved again before it was asked for: the command took too long. */
  open: z.object({ held: z.boolean() }),
}

/** The socket, in the data folder. */
export const SOCKET = 'backup.sock'

/** The whole lines in what has come, and the rest. */
export function linesIn(text: string): {
  readonly lines: readonly string[]
  readonly rest: string
} {
  const parts = text.split('\n')
  return { lines: parts.slice(0, -1), rest: parts.at(-1) ?? '' }
}
