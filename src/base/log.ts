import { type Instant, systemClock } from './clock.ts'
import { redact, redactText } from './redact.ts'

const levels = { debug: 10, info: 20, warn: 30, error: 40 } as const

export type LogLevel = keyof typeof levels
export type LogFields = Readonly<Record<string, unknown>>

/** Writes one line of JSON for each event; secrets never reach it. */
export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** The same log with fields that every line carries. */
  with(fields: LogFields): Log
}

export interface LogOptions {
  readonly level?: LogLevel
  readonly write?: (line: string) => void
  readonly now?: () => Instant
  readonly fields?: LogFields
}

/** Logs to standard error by default. */
export function makeLog(options: LogOptions = {}): Log {
  const { level = 'info', now = systemClock, fields = {} } = options
  const write = options.write ?? ((line: string) => void process.stderr.write(line))
  const say = (at: LogLevel) => (message: string, more?: LogFields) => {
    if (levels[at] < levels[level]) return
    const safe = redact({ ...fields, ...more })
    const head = { time: now(), level: at, message: redactText(message) }
    write(`${JSON.stringify({ ...head, ...(safe as object) })}\n`)
  }
  return {
    debug: say('debug'),
    info: say('info'),
    warn: say('warn'),
    error: say('error'),
    with: (more) => makeLog({ ...options, fields: { ...fields, ...more } }),
  }
}

/** For tests, and for tools that report in their own way. */
export const silentLog: Log = makeLog({ level: 'error', write: () => {} })
