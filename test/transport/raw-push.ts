import { flushPacket, packet } from '../../src/transport/pkt-line.ts'

export interface RawAnswer {
  readonly status: number
  readonly text: string
}

export interface RawPush {
  readonly capabilities?: string
  /** What follows the commands; an empty pack unless given. */
  readonly pack?: Buffer
  readonly headers?: Record<string, string>
}

/** A pack without objects. */
export const emptyPack = Buffer.from(
  '5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e',
  'hex',
)

/** The address without its credentials, and the header that carries them. */
export function splitAddress(address: string): { url: string; authorization: string } {
  const url = new URL(address)
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  url.username = ''
  url.password = ''
  return { url: url.href, authorization: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** The body of a push that makes refs. */
export function pushBody(
  creations: readonly (readonly [string, string])[],
  more: RawPush = {},
): Buffer {
  const capabilities = more.capabilities ?? 'report-status'
  const commands = creations.map(([name, id], i) =>
    packet(`${'0'.repeat(40)} ${id} ${name}${i === 0 ? `\0${capabilities}` : ''}\n`),
  )
  return Buffer.concat([...commands, flushPacket, more.pack ?? emptyPack])
}

/** Sends a body as it is to `git-receive-pack`. */
export async function sendRaw(
  address: string,
  body: Buffer,
  headers: Record<string, string> = {},
): Promise<RawAnswer> {
  const { url, authorization } = splitAddress(address)
  const response = await fetch(`${url}/git-receive-pack`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-git-receive-pack-request',
      Authorization: authorization,
      ...headers,
    },
    body: new Uint8Array(body),
  })
  return { status: response.status, text: await response.text() }
}

/** Pushes names that the git program would refuse to send. */
export async function sendPush(
  address: string,
  creations: readonly (readonly [string, string])[],
  more: RawPush = {},
): Promise<RawAnswer> {
  return await sendRaw(address, pushBody(creations, more), more.headers)
}
