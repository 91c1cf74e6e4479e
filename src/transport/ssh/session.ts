import type { Socket } from 'node:net'
import type { ServerChannel } from 'ssh2'
import { drained } from '../../base/streams/drained.ts'
import type { SshClient } from './client.ts'
import { withinPatience } from './within.ts'

interface ChannelOptions {
  readonly channel: ServerChannel
  readonly socket: Socket
  readonly protocol: string | undefined
  readonly signal: AbortSignal
  /** How long a client may take nothing of what lies ready for it. */
  readonly readerIdle: number
}

/** What the socket may hold that the client has not taken. */
const mostUnsent = 1024 * 1024

/** A channel of a connection as a client whose command is run. */
export function clientOf(options: ChannelOptions): SshClient {
  const { channel, socket, protocol, signal } = options
  const send = async (to: NodeJS.WritableStream, bytes: Buffer | string) => {
    signal.throwIfAborted()
    if (bytes.length === 0) return
    // The library never calls back for what it can't send any more.
    const written = new Promise<void>((resolve) => to.write(bytes, () => resolve()))
    await withinPatience(written, options)
    // It looks at the window of the client alone, which may be as wide as the client says.
    if (socket.writableLength > mostUnsent) await withinPatience(drained(socket), options)
  }
  return {
    input: channel,
    protocol,
    signal,
    write: (bytes) => send(channel, bytes),
    say: (text) => send(channel.stderr, text.endsWith('\n') ? text : `${text}\n`),
  }
}
