import { createHash } from 'node:crypto'
import type { Instant } from '../../base/clock.ts'
import type { Severity } from '../alerts/words.ts'

/** A JSON object as a monitoring tool sends it. */
export type Payload = Readonly<Record<string, unknown>>

/** One alert, plain, whichever format it came in (docs/contract/C-resolved §1.3). */
export interface AlertInput {
  readonly title: string
  readonly description: string | null
  readonly severity: Severity
  readonly service: string | null
  readonly monitoring_tool: string | null
  readonly hosts: readonly string[]
  readonly started_at: Instant
  readonly ended_at: Instant | null
  /** Whether the sender says that it is over. */
  readonly recovered: boolean
  /** SHA-1 in hex; null where nothing distinguishes the alert from others. */
  readonly fingerprint: string | null
  readonly environment: string | null
  readonly runbook: string | null
  readonly query: string | null
  readonly incident_markdown: string | null
  readonly payload: Payload
}

export function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Blank values count as absent. */
export function present(value: unknown): unknown {
  if (value === null || value === undefined) return undefined
  if (typeof value === 'string' && value.trim() === '') return undefined
  if (Array.isArray(value) && value.length === 0) return undefined
  return value
}

/** A text of at most so many characters, cut with an ellipsis; numbers are their digits. */
export function textUpTo(value: unknown, most: number): string | null {
  const given = present(value)
  if (given === undefined) return null
  const text = plain(asText(given))
  return firstOf(text, most) === text ? text : `${firstOf(text, most - 3)}...`
}

/** So many characters of a text; an emoji is one, whole or not there at all. */
function firstOf(text: string, most: number): string {
  if (text.length <= most) return text
  return [...text.slice(0, 2 * most)].slice(0, most).join('')
}

function asText(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** What the database takes as text. */
export function plain(text: string): string {
  const kept = text.includes('\0') ? text.replaceAll('\0', '') : text
  return kept.toWellFormed()
}

const MOST_HOSTS = 255

/** Hosts as a list of texts, cut to 255 characters in all. */
export function hostsOf(value: unknown): string[] {
  const hosts: string[] = []
  let room = MOST_HOSTS
  for (const host of flatTexts(value)) {
    if (room <= 0) break
    hosts.push(firstOf(host, room))
    room -= host.length
  }
  return hosts
}

function flatTexts(value: unknown): string[] {
  if (present(value) === undefined) return []
  if (Array.isArray(value)) return value.flat(100).flatMap(flatTexts)
  return [plain(asText(value))]
}

/** Dates as ISO 8601, Zabbix and Nagios (`2026.05.04`, `2026/05/04`) and mail (`Mon, 04 May 2026 …`) have them. */
const MOMENT = /^(?:\d{4}([-./])\d{2}\1\d{2}|(?:[A-Z][a-z]{2}, )?\d{1,2} [A-Z][a-z]{2} \d{4} )/

/** The moment that a text means, in UTC; undefined where it means none. */
export function momentOf(value: unknown): Instant | undefined {
  if (typeof value !== 'string' || !MOMENT.test(value)) return undefined
  const text = value.replace(/^(\d{4})[./](\d{2})[./]/, '$1-$2-')
  const zoned = /(Z|[+-]\d{2}:?\d{2}|UTC|GMT)\s*$/i.test(text) || text.length === 10
  const time = Date.parse(zoned ? text : `${text}Z`)
  return Number.isNaN(time) ? undefined : new Date(time).toISOString()
}

/** As `momentOf`, and milliseconds since 1970 in 13 digits. */
export function endOf(value: unknown): Instant | undefined {
  if (typeof value === 'object') return undefined
  const digits = /^\d{13}$/.exec(String(value))?.[0]
  return digits === undefined ? momentOf(value) : new Date(Number(digits)).toISOString()
}

/** The stored form of a fingerprint that somebody gave: a text as it is, a list without separators. */
export function givenFingerprint(value: unknown): string | undefined {
  const given = present(value)
  if (given === undefined) return undefined
  const text = Array.isArray(given) ? given.flat(100).map(asText).join('') : asText(given)
  return text === '' ? undefined : sha1(text)
}

export function sha1(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}
