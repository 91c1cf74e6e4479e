/*
 * What the programs that the system's sshd starts say to the server, over a socket in the data folder that only the server's
 * user can open: one line of JSON. The answer to `keys` is a line; with `serve` the rest is what the client sends, and the
 * answer comes in frames.
 */

/** The socket, in the data folder. */
export const SOCKET = 'ssh.sock'

export const LONGEST_LINE = 65_536

export type SystemRequest =
  | { readonly want: 'keys'; readonly type: string; readonly data: string }
  | {
      readonly want: 'serve'
      readonly keyId: number
      /** What the client asked for, and from where. */
      readonly line: string
      readonly ip: string
      readonly protocol: string
    }

/** What a frame holds: one of the two streams, or the exit status as its one byte. */
export const Frame = { out: 1, err: 2, exit: 3 } as const

export function frame(kind: number, bytes: Buffer): Buffer {
  const head = Buffer.alloc(5)
  head.writeUInt8(kind)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

/** The frames of a stream, each as a whole. */
export async function* framesIn(
  stream: AsyncIterable<Buffer>,
): AsyncGenerator<{ readonly kind: number; readonly bytes: Buffer }> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of stream) {
    rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    while (rest.length >= 5) {
      const end = 5 + rest.readUInt32BE(1)
      if (rest.length < end) break
      yield { kind: rest.readUInt8(), bytes: rest.subarray(5, end) }
      rest = rest.subarray(end)
    }
  }
}
