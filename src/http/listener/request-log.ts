import { AsyncLocalStorage } from 'node:async_hooks'
import { createWriteStream, statSync, type WriteStream } from 'node:fs'
import type { RequestHandler } from 'express'
import type { Actor } from '../../access/actor.ts'
import type { Instant } from '../../base/clock.ts'
import type { Config } from '../../base/config.ts'
import type { Log } from '../../base/log.ts'
import { redactText } from '../../base/redact.ts'

/** How often a file is looked for that somebody has taken away. */
const lookMs = 1000

/** Who asks, once that is known. */
interface Asking {
  user: string | undefined
}

export interface RequestLog {
  readonly handler: RequestHandler
  /** Gets whoever turns out to ask, while their request is worked on. */
  note(actor: Actor): void
  close(): void
}

interface Parts {
  readonly config: Pick<Config, 'accessLog' | 'slowRequest'>
  readonly log: Log
  readonly now: () => Instant
}

/** Writes down each request, and logs those that take long, as the settings want. */
export function openRequestLog({ config, log, now }: Parts): RequestLog {
  const { accessLog, slowRequest } = config
  const requests = new AsyncLocalStorage<Asking>()
  const write = writerOf(accessLog, log)
  const isOn = write !== undefined || slowRequest > 0
  return {
    note(actor) {
      const asking = isOn ? requests.getStore() : undefined
      if (asking) asking.user ??= nameOf(actor)
    },
    close: () => write?.close(),
    handler(request, response, next) {
      if (!isOn) return next()
      const started = performance.now()
      const { socket } = request
      const before = socket.bytesWritten
      // Express takes the mount point away from the path later; queries may hold tokens.
      const path = redactText((request.url ?? '').split('?', 1)[0] ?? '')
      const asking: Asking = { user: undefined }
      response.once('close', () => {
        const milliseconds = performance.now() - started
        const about = {
          address: request.ip ?? '',
          user: asking.user ?? null,
          method: request.method,
          path,
          status: response.statusCode,
          seconds: Math.round(milliseconds) / 1000,
          bytes: socket.bytesWritten - before,
          whole: response.writableFinished,
          request_id: String(response.getHeader('X-Request-Id') ?? ''),
        }
        write?.line(JSON.stringify({ time: now(), ...about }))
        if (slowRequest > 0 && milliseconds > slowRequest) log.warn('slow request', about)
      })
      requests.run(asking, next)
    },
  }
}

function nameOf(actor: Actor): string | undefined {
  if (actor.kind === 'user') return actor.user.username
  return actor.kind === 'anonymous' ? undefined : actor.kind
}

interface Writer {
  line(text: string): void
  close(): void
}

function writerOf(where: string, log: Log): Writer | undefined {
  if (where === 'off') return undefined
  if (where === 'on') {
    return { line: (text) => void process.stderr.write(`${text}\n`), close: () => {} }
  }
  return new LogFile(where, log)
}

/** A file that grows; a new one is begun when somebody has moved it away. */
class LogFile implements Writer {
  readonly #path: string
  readonly #log: Log
  #stream: WriteStream
  #looked = performance.now()

  constructor(path: string, log: Log) {
    this.#path = path
    this.#log = log
    this.#stream = this.#open()
  }

  line(text: string): void {
    if (performance.now() - this.#looked > lookMs) {
      this.#looked = performance.now()
      if (!statSync(this.#path, { throwIfNoEntry: false })) {
        this.#stream.end()
        this.#stream = this.#open()
      }
    }
    this.#stream.write(`${text}\n`)
  }

  close(): void {
    this.#stream.end()
  }

  #open(): WriteStream {
    const stream = createWriteStream(this.#path, { flags: 'a', mode: 0o600 })
    // A full disk must not keep anybody from being answered.
    stream.on('error', (error) => this.#log.error('the access log cannot be written', { error }))
    return stream
  }
}
