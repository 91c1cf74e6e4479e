import type { Severity } from '../alerts/words.ts'
import {
  type AlertInput,
  givenFingerprint,
  hostsOf,
  isObject,
  momentOf,
  type Payload,
  present,
  sha1,
  textUpTo,
} from './alert-input.ts'
import { type FieldMapping, readMapped } from './mapping.ts'

const KEYS = [
  'version',
  'groupKey',
  'status',
  'receiver',
  'groupLabels',
  'commonLabels',
  'commonAnnotations',
  'externalURL',
  'alerts',
] as const

/** More elements of one delivery than this are not looked at (docs/contract/C-resolved §1.2). */
const MOST_ALERTS = 100

/** Whether a body is a delivery of the metrics format: that, and not the integration's type, decides. */
export function isMetrics(payload: Payload): boolean {
  return KEYS.every((key) => Object.hasOwn(payload, key)) && payload.version === '4'
}

/** The alerts of a delivery; elements without a title or a start are left out. */
export function readMetrics(payload: Payload, mappings: readonly FieldMapping[]): AlertInput[] {
  const elements = Array.isArray(payload.alerts) ? payload.alerts : []
  return elements
    .slice(0, MOST_ALERTS)
    .filter(isObject)
    .flatMap((element) => readElement(element, mappings) ?? [])
}

const severityWords: Readonly<Record<Severity, readonly string[]>> = {
  critical: ['critical', 's1', 'p1', 'emergency', 'fatal'],
  high: ['high', 's2', 'p2', 'major', 'page'],
  medium: ['medium', 's3', 'p3', 'error', 'alert'],
  low: ['low', 's4', 'p4', 'warn', 'warning', 'minor'],
  info: ['info', 's5', 'p5', 'debug', 'information', 'notice'],
  unknown: [],
}
const severityByWord = new Map(
  Object.entries(severityWords).flatMap(([severity, words]) =>
    // The keys of a literal.
    words.map((word) => [word, severity as Severity] as const),
  ),
)

function severityIn(value: unknown): Severity {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : ''
  return severityByWord.get(word) ?? 'critical'
}

function partOf(element: Payload, name: string): Payload {
  const part = element[name]
  return isObject(part) ? part : {}
}

function readElement(element: Payload, mappings: readonly FieldMapping[]): AlertInput | undefined {
  const mapped = readMapped(element, mappings)
  const labels = partOf(element, 'labels')
  const annotations = partOf(element, 'annotations')
  const names = [annotations.title, annotations.summary, labels.alertname]
  const title = textUpTo(mapped('title')?.value ?? names.find((one) => present(one)), 200)
  const startedAt = momentOf(mapped('start_time')?.value ?? element.startsAt)
  if (title === null || startedAt === undefined) return undefined
  const query = queryOf(element.generatorURL)
  const recovered = element.status === 'resolved'
  const identity = [element.startsAt, title, query].map((one) => String(one ?? '')).join('/')
  return {
    title,
    description: textUpTo(mapped('description')?.value ?? annotations.description, 1000),
    severity: severityIn(mapped('severity')?.value ?? labels.severity),
    service: textUpTo(mapped('service')?.value ?? labels.service, 100),
    monitoring_tool: 'Prometheus',
    hosts: hostsOf(mapped('hosts')?.value ?? labels.instance),
    started_at: startedAt,
    ended_at: recovered ? endIn(mapped('end_time')?.value ?? element.endsAt) : null,
    recovered,
    fingerprint: givenFingerprint(mapped('fingerprint')?.value) ?? sha1(identity),
    environment: textUpTo(
      mapped('svc_environment_name')?.value ?? labels.svc_environment_name,
      255,
    ),
    runbook: textUpTo(annotations.runbook, 2000),
    query: textUpTo(query, 2000),
    incident_markdown: textUpTo(annotations.svc_incident_markdown, 100_000),
    payload: element,
  }
}

/** The zero time of Go programs means that there is no end yet. */
function endIn(value: unknown): string | null {
  const moment = momentOf(value)
  return moment === undefined || moment.startsWith('0001-') ? null : moment
}

/** The metric's query, out of the link to where it was made. */
function queryOf(link: unknown): string | null {
  if (typeof link !== 'string') return null
  const mark = link.indexOf('?')
  if (mark < 0 || link.length > 65_536) return null
  return new URLSearchParams(link.slice(mark + 1)).get('g0.expr')
}
