import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import ssh2 from 'ssh2'
import { addressSet } from '../../base/outbound/address.ts'
import { reasonOf, StartError } from '../../base/start-error.ts'
import { ensureHostKeys } from '../../instance/ssh-host-keys/host-keys.ts'
import { SshConnection } from './connection.ts'
import { Connections } from './connections.ts'
import type { GitOverSsh } from './serve.ts'

export interface SshServer {
  listen(): Promise<void>
  /** Stops accepting, lets commands end within the drain time, and cuts what is left. */
  close(drainTime: number): Promise<void>
}

/**
 * Nothing over SHA-1, no cipher that a network can cut the beginning of, and no exchange of keys that costs a stranger
 * little and the server much (docs/decisions/0096).
 */
const algorithms = {
  kex: [
    'curve25519-sha256',
    'curve25519-sha256@libssh.org',
    'ecdh-sha2-nistp256',
    'ecdh-sha2-nistp384',
    'ecdh-sha2-nistp521',
  ],
  serverHostKey: ['ssh-ed25519', 'ecdsa-sha2-nistp256'],
  cipher: ['aes128-gcm@openssh.com', 'aes256-gcm@openssh.com', 'aes128-ctr', 'aes256-ctr'],
  hmac: [
    'hmac-sha2-256-etm@openssh.com',
    'hmac-sha2-512-etm@openssh.com',
    'hmac-sha2-256',
    'hmac-sha2-512',
  ],
  compress: ['none'],
} as const

/** A connection up to the first line of its client. */
interface Waiting {
  readonly socket: Socket
  readonly onSignIn: () => void
  readonly timer: NodeJS.Timeout
}

const limits = { strangers: 200, strangersOfOne: 50, all: 2000, ofOne: 500 }
const keepaliveMs = 30_000
const keepaliveMost = 4

/** git over SSH; nothing listens yet. */
export async function openSshServer(parts: GitOverSsh): Promise<SshServer> {
  const ctx = parts.makeCtx({ kind: 'system' }, '')
  const { config, log } = ctx
  const connections = new Connections(limits, addressSet(config.trustedProxies))
  const open = new Set<SshConnection>()
  const bySocket = new Map<string, Waiting>()
  const protocol = new ssh2.Server({
    hostKeys: (await ensureHostKeys(ctx)).map(({ privateKey }) => privateKey),
    ident: 'Gitstead',
    keepaliveInterval: keepaliveMs,
    keepaliveCountMax: keepaliveMost,
    // The types want lists that may change.
    algorithms: algorithms as unknown as ssh2.Algorithms,
  })
  protocol.on('connection', (client, info) => {
    const found = bySocket.get(nameOf(info.ip, info.port))
    if (!found) {
      client.on('error', () => {})
      client.end()
      return
    }
    const { socket, onSignIn, timer } = found
    clearTimeout(timer)
    const { requestTimeout: signInMs, sshIdle: idleMs, readerIdle } = config
    const options = { parts, socket, onSignIn, signInMs, idleMs, readerIdle }
    const connection = new SshConnection(client, options)
    open.add(connection)
    socket.once('close', () => open.delete(connection))
  })
  const listener = createServer({ noDelay: true }, (socket) => {
    const onSignIn = connections.add(socket)
    socket.on('error', () => {})
    if (!onSignIn) return
    const name = nameOf(socket.remoteAddress, socket.remotePort)
    const timer = setTimeout(() => socket.destroy(), config.requestTimeout)
    bySocket.set(name, { socket, onSignIn, timer })
    socket.once('close', () => {
      clearTimeout(timer)
      bySocket.delete(name)
    })
    protocol.injectSocket(socket)
  })
  return {
    async listen() {
      const { host, sshPort: port } = config
      listener.listen(port, host)
      await once(listener, 'listening').catch((error: NodeJS.ErrnoException) => {
        throw cannotListen(error, host, port)
      })
      listener.on('error', (error) => log.warn('not accepted over SSH', { error }))
    },
    async close(drainTime) {
      if (!listener.listening) return
      const closed = once(listener, 'close')
      listener.close()
      for (const connection of open) connection.endWhenIdle()
      const cut = new AbortController()
      const ended = closed.finally(() => cut.abort())
      await Promise.race([ended, sleep(drainTime, undefined, { signal: cut.signal })]).catch(
        () => {},
      )
      for (const socket of connections.sockets) socket.destroy()
      await closed
    },
  }
}

function nameOf(address: string | undefined, port: number | undefined): string {
  return `${address} ${port}`
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): StartError {
  const at = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
  const advice = 'choose another GITSTEAD_SSH_PORT, or 0 for no git over SSH'
  if (error.code === 'EADDRINUSE') return new StartError(`${at} is in use: ${advice}`)
  if (error.code === 'EACCES') return new StartError(`${at} needs more rights: ${advice}`)
  const why = 'GITSTEAD_HOST must be an address of this machine'
  return new StartError(`cannot listen on ${at} (${reasonOf(error)}): ${why}`)
}
