import { createConnection, type Socket } from 'node:net'
import { userInfo } from 'node:os'
import { withSocketPath } from '../../store/data-folder/socket-path.ts'
import { Frame, framesIn, SOCKET, type SystemRequest } from '../../transport/ssh/system/protocol.ts'

// Started for each connection of the system's sshd: it loads nothing of the server.

/** Asks the server that uses a data folder, or says in one line that none does. */
async function ask(data: string, request: SystemRequest): Promise<Socket> {
  const socket = await withSocketPath({ data, name: SOCKET }, connect).catch(() => undefined)
  if (!socket) throw new Error(`no server that answers git over SSH uses ${data}`)
  socket.write(`${JSON.stringify(request)}\n`)
  return socket
}

function connect(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection({ path, allowHalfOpen: true }, () => resolve(socket))
    socket.once('error', reject)
  })
}

interface OfferedKey {
  /** Who signs in, as the system knows them. */
  readonly user: string
  readonly type: string
  readonly data: string
}

/**
 * The line of `authorized_keys` for a key that is registered, with the command that serves it and nothing else allowed; empty
 * for any other key. Only the user of the server is let in: the command runs as whoever signs in.
 */
export async function authorizedKey(
  data: string,
  { user, type, data: key }: OfferedKey,
  program: readonly string[],
): Promise<string> {
  if (user !== userInfo().username) return ''
  const socket = await ask(data, { want: 'keys', type, data: key })
  let text = ''
  for await (const chunk of socket) text += chunk
  const { keyId } = JSON.parse(text) as { readonly keyId?: number }
  if (keyId === undefined) return ''
  const words = [...program, 'ssh-serve', String(keyId), '--data', data]
  const command = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ')
  const quoted = command.replaceAll('\\', '\\\\').replaceAll('"', '\\"')
  return `command="${quoted}",restrict ${type} ${key}`
}

/** Lets the client of this process's sshd speak with the server, and gives the exit status. */
export async function serveKey(
  data: string,
  keyId: number,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const {
    SSH_ORIGINAL_COMMAND: line = '',
    SSH_CONNECTION: from = '',
    GIT_PROTOCOL = '',
  } = environment
  const ip = from.split(' ')[0] ?? ''
  const socket = await ask(data, { want: 'serve', keyId, line, ip, protocol: GIT_PROTOCOL })
  socket.on('error', () => {})
  process.stdin.on('error', () => {})
  process.stdin.pipe(socket)
  for await (const { kind, bytes } of framesIn(socket)) {
    if (kind === Frame.exit) return bytes[0] ?? 1
    await written(kind === Frame.out ? process.stdout : process.stderr, bytes)
  }
  process.stderr.write('remote: The server ended before it was done.\n')
  return 128
}

function written(to: NodeJS.WriteStream, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    to.write(bytes, (error) => (error ? reject(error) : resolve()))
  })
}
