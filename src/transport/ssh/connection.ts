import type { Socket } from 'node:net'
import type { Connection, ServerChannel, Session } from 'ssh2'
import { ANONYMOUS } from '../../access/actor.ts'
import { Authentication } from './authentication.ts'
import { type GitOverSsh, serveCommand } from './serve.ts'
import { clientOf } from './session.ts'

/** How many commands one connection runs at once. */
const mostSessions = 10
/** Answers to what a client asks that it does not read, and what it sends beyond the window that it was given. */
const mostUnsent = 8 * 1024 * 1024
const mostUnread = 8 * 1024 * 1024

interface ConnectionOptions {
  readonly parts: GitOverSsh
  readonly socket: Socket
  /** How long the sign-in may take. */
  readonly signInMs: number
  /** How long the connection may stay without a command. */
  readonly idleMs: number
  readonly readerIdle: number
  /** Called once the client has signed in. */
  readonly onSignIn: () => void
}

/** One connection of a client, from its first words on. */
export class SshConnection {
  readonly #client: Connection
  readonly #options: ConnectionOptions
  readonly #authentication: Authentication
  readonly #gone = new AbortController()
  readonly #channels = new Set<ServerChannel>()
  readonly #ip: string
  #running = 0
  #closing = false
  #idle: NodeJS.Timeout

  constructor(client: Connection, options: ConnectionOptions) {
    const { parts, socket, signInMs } = options
    this.#client = client
    this.#options = options
    this.#ip = socket.remoteAddress ?? ''
    this.#authentication = new Authentication(parts.makeCtx(ANONYMOUS, this.#ip), () => this.end())
    this.#idle = setTimeout(() => socket.destroy(), signInMs)
    // Whatever is wrong with the words of a client ends its connection, and nothing else.
    client.on('error', () => this.#part())
    client.on('authentication', (asked) => this.#authentication.answer(asked))
    client.on('ready', () => this.#signedIn())
    client.on('session', (accept, reject) => this.#open(accept, reject))
    client.on('request', (_accept, reject) => reject?.())
    socket.on('data', () => this.#watch())
    socket.once('close', () => {
      clearTimeout(this.#idle)
      this.#gone.abort(new Error('the client went away'))
    })
  }

  /** Ends the connection once it has nothing to do. */
  endWhenIdle(): void {
    this.#closing = true
    if (this.#running === 0) this.end()
  }

  end(): void {
    this.#client.end()
    this.#part()
  }

  /** Not before the client has had the time to read what was sent last. */
  #part(): void {
    const { socket } = this.#options
    socket.end()
    setTimeout(() => socket.destroy(), 1000).unref()
  }

  #signedIn(): void {
    this.#options.onSignIn()
    this.#rest()
  }

  #rest(): void {
    clearTimeout(this.#idle)
    if (this.#closing) this.end()
    else this.#idle = setTimeout(() => this.end(), this.#options.idleMs)
  }

  #watch(): void {
    const { socket } = this.#options
    const unread = [...this.#channels].reduce((sum, { readableLength }) => sum + readableLength, 0)
    if (socket.writableLength > mostUnsent || unread > mostUnread) socket.destroy()
  }

  #open(accept: () => Session, reject: () => void): void {
    if (this.#running >= mostSessions || this.#closing) {
      reject()
      return
    }
    this.#running += 1
    clearTimeout(this.#idle)
    const session = accept()
    const gone = new AbortController()
    const leave = () => gone.abort(new Error('the client went away'))
    this.#gone.signal.addEventListener('abort', leave, { once: true })
    let protocol: string | undefined
    let isBegun = false
    let isOver = false
    const over = () => {
      if (isOver) return
      isOver = true
      this.#gone.signal.removeEventListener('abort', leave)
      this.#running -= 1
      if (this.#running === 0 && !this.#gone.signal.aborted) this.#rest()
    }
    // A session without a command must not hold its connection open.
    const waiting = setTimeout(() => {
      if (!isBegun) this.end()
    }, this.#options.signInMs)
    session.on('close', () => {
      clearTimeout(waiting)
      leave()
      if (!isBegun) over()
    })
    session.on('env', (acceptEnv, _reject, { key, val }) => {
      if (key === 'GIT_PROTOCOL' && val.length <= 1000) protocol = val
      // Everything else is taken and forgotten, as clients send what their users happen to have set.
      acceptEnv?.()
    })
    const begin = (take: () => ServerChannel | undefined, line: string) => {
      // A session runs one command (RFC 4254 §6.5).
      if (isBegun) return
      isBegun = true
      clearTimeout(waiting)
      const channel = take()
      if (!channel) return over()
      this.#run(channel, line, protocol, gone.signal)
        .finally(over)
        .catch(() => this.#options.socket.destroy())
    }
    session.on('exec', (take, _reject, { command }) => begin(take, command))
    session.on('shell', (take) => begin(take, ''))
  }

  async #run(
    channel: ServerChannel,
    line: string,
    protocol: string | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const { parts, socket, readerIdle } = this.#options
    const { identity } = this.#authentication
    this.#channels.add(channel)
    channel.on('error', () => {})
    channel.stderr.on('error', () => {})
    try {
      const client = clientOf({ channel, socket, protocol, signal, readerIdle })
      const request = { ip: this.#ip, line }
      const code = identity ? await serveCommand(parts, { ...request, identity }, client) : 1
      // What the client still sends is not read any more.
      channel.resume()
      channel.exit(code)
      channel.end()
    } catch {
      socket.destroy()
    } finally {
      this.#channels.delete(channel)
    }
  }
}
