import type { Readable } from 'node:stream'

/** One command of a client: its three streams, whatever brings them. */
export interface SshClient {
  readonly input: Readable
  /** What the client says of itself: git's protocol version. */
  readonly protocol: string | undefined
  /** Raised when the client is gone. */
  readonly signal: AbortSignal
  /** Sends bytes of the answer, as fast as the client takes them; throws when it is gone or takes nothing. */
  write(bytes: Buffer | string): Promise<void>
  /** What the user reads. */
  say(text: string): Promise<void>
}
