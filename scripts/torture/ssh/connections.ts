import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import ssh2 from 'ssh2'

/** How long a connection may take that does not end by itself. */
const LONGEST_MS = 10_000
/** What the server is given to answer in, after the last message. */
const ANSWER_MS = 30

/** What the library keeps to itself. */
interface Inside {
  readonly _protocol: {
    readonly _packetRW: {
      readonly write: {
        alloc(size: number): Buffer
        readonly allocStart: number
        finalize(packet: Buffer): Buffer
      }
    }
    readonly _cipher: { encrypt(packet: Buffer): void }
  }
}

export interface Target {
  readonly port: number
  /** The private key of a user. */
  readonly privateKey: string
}

/** Sends messages before any keys are exchanged. */
export function sendPlainly(port: number, messages: readonly Buffer[]): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const late = setTimeout(() => socket.destroy(), LONGEST_MS)
    socket.on('error', () => {})
    socket.resume()
    socket.once('close', () => {
      clearTimeout(late)
      resolve()
    })
    socket.write('SSH-2.0-fuzz\r\n')
    for (const message of messages) socket.write(packetOf(message))
    socket.end()
  })
}

/** A packet as it is before encryption (RFC 4253 §6). */
function packetOf(payload: Buffer): Buffer {
  const padding = 8 - ((payload.length + 5) % 8) + 4
  const head = Buffer.alloc(5)
  head.writeUInt32BE(payload.length + padding + 1)
  head.writeUInt8(padding, 4)
  return Buffer.concat([head, payload, Buffer.alloc(padding)])
}

const admissions =
  /^Inbound: .*\b(USERAUTH_SUCCESS|CHANNEL_OPEN_CONFIRMATION|CHANNEL_SUCCESS|CHANNEL_DATA)\b/

/**
 * Sends messages in an encrypted connection, before its user has signed in or after that; gives whether the server let a
 * stranger do anything.
 */
export async function sendEncrypted(
  { port, privateKey }: Target,
  isKnown: boolean,
  messages: readonly Buffer[],
): Promise<{ readonly isReached: boolean; readonly admitted: string | undefined }> {
  const client = new ssh2.Client()
  let admitted: string | undefined
  let isReached = false
  client.on('error', () => {})
  const closed = new Promise<void>((resolve) => client.once('close', () => resolve()))
  const begun = new Promise<void>((resolve) => {
    client.once(isKnown ? 'ready' : ('handshake' as 'ready'), () => {
      isReached = true
      resolve()
    })
  })
  client.connect({
    host: '127.0.0.1',
    port,
    username: 'git',
    // A stranger never comes to sign in by the library itself.
    ...(isKnown ? { privateKey } : { authHandler: () => {} }),
    debug(line: string) {
      if (!isKnown) admitted ??= admissions.exec(line)?.[1]
    },
  } as ssh2.ConnectConfig)
  const late = setTimeout(() => client.destroy(), LONGEST_MS)
  await Promise.race([begun, closed])
  // What comes with the end of the handshake goes first.
  await sleep(1)
  for (const message of messages) {
    if (!write(client, message)) break
  }
  await Promise.race([closed, sleep(ANSWER_MS)])
  client.destroy()
  await closed
  clearTimeout(late)
  return { isReached, admitted }
}

function write(client: ssh2.Client, payload: Buffer): boolean {
  const { _protocol: protocol } = client as unknown as Inside
  try {
    const { write } = protocol._packetRW
    const packet = write.alloc(payload.length)
    payload.copy(packet, write.allocStart)
    protocol._cipher.encrypt(write.finalize(packet))
    return true
  } catch {
    // It has been taken apart with its connection.
    return false
  }
}
