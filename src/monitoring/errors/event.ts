import { createHash, randomBytes } from 'node:crypto'
import type { Instant } from '../../base/clock.ts'
import { badRequest } from '../../base/problem.ts'

type Json = Readonly<Record<string, unknown>>

/** What is counted of an event, and identifies the error (docs/contract/C-resolved §2.3). */
export interface ReportedEvent {
  readonly eventId: string
  /** Name, actor and platform identify the error. */
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
  const isEvent = exceptionsIn(event.exception).some(isException) || messageOf(event) !== undefined
  if (!isEvent) throw unsupported()
  return describeEvent(event, now)
}

/** As `readEvent`, of an event that was taken once: earlier versions took others. */
export function describeEvent(event: Json, now: Instant): ReportedEvent {
  const exception = exceptionOf(event)
  const message = messageOf(event)
  const name = exception ? (textOf(exception.type) ?? 'Error') : 'message'
  const description = exception ? (saidBy(exception) ?? '') : (message ?? '')
  return {
    eventId: eventIdOf(event.event_id) ?? randomBytes(16).toString('hex'),
    name: cut(name, MAX_FIELD),
    actor: cut(actorOf(event, exception), MAX_FIELD),
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

/**
 * The exceptions of an event: a list of them, a list at `values`, or one by itself. Programs send empty lists beside a
 * message, PHP sends them for empty objects, and what is no exception among others takes nothing from those.
 */
function exceptionsIn(given: unknown): readonly Json[] {
  if (isObject(given) && 'values' in given) return exceptionsIn(given.values)
  if (Array.isArray(given)) return given.filter(isObject)
  return isObject(given) && Object.keys(given).length > 0 ? [given] : []
}

/** A type that is no text is nothing that a program sends. */
function isException({ type }: Json): boolean {
  return type === undefined || type === null || typeof type === 'string'
}

/** The first exception that has a stack, or the first: the others are what it came of. */
export function exceptionOf(event: Json): Json | undefined {
  const all = exceptionsIn(event.exception)
  const known = all.filter(isException)
  const instead = messageOf(event) === undefined ? all[0] : undefined
  return known.find((one) => isObject(one.stacktrace)) ?? known[0] ?? instead
}

/** What an exception says: mostly a text, but programs can throw whatever they like. */
function saidBy({ value }: Json): string | undefined {
  const isOther = typeof value === 'boolean' || (typeof value === 'object' && value !== null)
  return textOf(isOther ? JSON.stringify(value) : value)
}

/** The frames of an exception, the innermost last. */
export function framesOf({ stacktrace }: Json): readonly Json[] {
  const frames = isObject(stacktrace) ? stacktrace.frames : undefined
  return Array.isArray(frames) ? frames.filter(isObject) : []
}

function messageOf(event: Json): string | undefined {
  const { message, logentry } = event
  const entry = isObject(message) ? message : isObject(logentry) ? logentry : undefined
  return textOf(message) ?? textOf(entry?.formatted) ?? textOf(entry?.message)
}

/** The transaction, or `function(module)` of the innermost frame; of messages what they have in common. */
function actorOf(event: Json, exception: Json | undefined): string {
  const transaction = textOf(event.transaction)
  if (transaction !== undefined) return transaction
  const last = exception && framesOf(exception).at(-1)
  if (last) return `${textOf(last.function) ?? ''}(${textOf(last.module) ?? ''})`
  const entry = isObject(event.logentry) ? event.logentry : undefined
  return textOf(entry?.message) ?? (exception ? '' : (messageOf(event) ?? ''))
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
