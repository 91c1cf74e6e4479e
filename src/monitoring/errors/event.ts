import { createHash, randomBytes } from 'node:crypto'
import type { Instant } from '../../base/clock.ts'
import { badRequest } from '../../base/problem.ts'

type Json = Readonly<Record<string, unknown>>

/** What is counted of an event, and tells which error it is (docs/contract/C-resolved §2.3). */
export interface ReportedEvent {
  readonly eventId: string
  /** Name, actor and platform tell which error it is. */
  readonly name: string
  readonly actor: string
  readonly platform: string
  readonly description: string
  readonly level: string | null
  readonly environment: string | null
  readonly release: string | null
  readonly logger: string | null
  readonly occurredAt: Instant
  /** A digest of what names the user, in hex; null where the event names nobody. */
  readonly userHash: string | null
}

/** Longest texts of one field; longer is 400 where the contract says so, and cut elsewhere. */
const MAX_FIELD = 255
const MAX_DESCRIPTION = 1024
const MAX_RELEASE = 250

/** Reads an event that was parsed; what is none is `Unsupported sentry payload`. */
export function readEvent(event: Json, now: Instant): ReportedEvent {
  const exception = mainException(event.exception)
  const message = messageOf(event)
  if (!exception && message === undefined) throw unsupported()
  const frames = exception ? framesOf(exception) : []
  const name = exception ? (textOf(exception.type) ?? 'Error') : 'message'
  const description = exception ? (textOf(exception.value) ?? '') : (message ?? '')
  return {
    eventId: eventIdOf(event.event_id) ?? randomBytes(16).toString('hex'),
    name: cut(name, MAX_FIELD),
    actor: cut(actorOf(event, frames), MAX_FIELD),
    platform: shortField(event.platform) ?? 'other',
    description: cut(description, MAX_DESCRIPTION),
    level: shortField(event.level) ?? null,
    environment: shortField(event.environment) ?? null,
    release: cutOrNull(textOf(event.release), MAX_RELEASE),
    logger: cutOrNull(textOf(event.logger), MAX_FIELD),
    occurredAt: momentOf(event.timestamp, now),
    userHash: userHashOf(event.user),
  }
}

export function unsupported() {
  return badRequest('Unsupported sentry payload')
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A filled text without what the database does not take. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value)
  if (typeof value !== 'string') return undefined
  const text = value.replaceAll('\0', '').toWellFormed()
  return text.trim() === '' ? undefined : text
}

function shortField(value: unknown): string | undefined {
  const text = textOf(value)
  if (text !== undefined && text.length > MAX_FIELD) throw unsupported()
  return text
}

function cut(text: string, most: number): string {
  return text.length > most ? text.slice(0, most).toWellFormed() : text
}

function cutOrNull(text: string | undefined, most: number): string | null {
  return text === undefined ? null : cut(text, most)
}

/** The first exception that has a stack, or the first: the others are what it came of. */
function mainException(given: unknown): Json | undefined {
  if (given === undefined || given === null) return undefined
  const values = Array.isArray(given) ? given : isObject(given) ? given.values : undefined
  if (!Array.isArray(values) || values.length === 0) throw unsupported()
  if (!values.every(isException)) throw unsupported()
  return values.find((one) => isObject(one.stacktrace)) ?? values[0]
}

function isException(value: unknown): value is Json {
  if (!isObject(value)) return false
  return [value.type, value.value].every((one) => one === undefined || one === null || isPlain(one))
}

function isPlain(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** The frames of an exception, the innermost last. */
export function framesOf(exception: Json): readonly Json[] {
  const { stacktrace } = exception
  if (stacktrace === undefined || stacktrace === null) return []
  const frames = isObject(stacktrace) ? (stacktrace.frames ?? []) : undefined
  if (!Array.isArray(frames)) throw unsupported()
  return frames.filter(isObject)
}

/** The exception of a stored event, for showing its stack. */
export function exceptionOf(event: Json): Json | undefined {
  return mainException(event.exception)
}

function messageOf(event: Json): string | undefined {
  const { message, logentry } = event
  const entry = isObject(message) ? message : isObject(logentry) ? logentry : undefined
  return textOf(message) ?? textOf(entry?.formatted) ?? textOf(entry?.message)
}

/** The transaction, or `function(module)` of the innermost frame; of messages what they have in common. */
function actorOf(event: Json, frames: readonly Json[]): string {
  const transaction = textOf(event.transaction)
  if (transaction !== undefined) return transaction
  const last = frames.at(-1)
  if (last) return `${textOf(last.function) ?? ''}(${textOf(last.module) ?? ''})`
  const entry = isObject(event.logentry) ? event.logentry : undefined
  return textOf(entry?.message) ?? (event.exception ? '' : (messageOf(event) ?? ''))
}

function eventIdOf(value: unknown): string | undefined {
  const id = typeof value === 'string' ? value.replaceAll('-', '').toLowerCase() : ''
  return /^[0-9a-f]{32}$/.test(id) ? id : undefined
}

/** ISO 8601, or seconds since 1970; anything else, and what lies ahead, is now. */
function momentOf(value: unknown, now: Instant): Instant {
  const seconds =
    typeof value === 'number'
      ? value
      : /^\d{9,10}(\.\d+)?$/.test(String(value))
        ? Number(value)
        : undefined
  const time = seconds === undefined ? Date.parse(zoned(value)) : seconds * 1000
  if (!Number.isFinite(time) || time < 0 || time > Date.parse(now)) return now
  return new Date(time).toISOString()
}

function zoned(value: unknown): string {
  const text = typeof value === 'string' ? value : ''
  return /(Z|[+-]\d{2}:?\d{2})$/.test(text) || text === '' ? text : `${text}Z`
}

function userHashOf(user: unknown): string | null {
  if (!isObject(user)) return null
  for (const key of ['id', 'email', 'username', 'ip_address'] as const) {
    const text = textOf(user[key])
    if (text !== undefined && text !== '{{auto}}') {
      return createHash('sha256').update(`${key}:${text}`).digest('hex').slice(0, 16)
    }
  }
  return null
}
