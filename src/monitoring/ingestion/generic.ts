import type { Instant } from '../../base/clock.ts'
import { type Severity, severities } from '../alerts/words.ts'
import {
  type AlertInput,
  endOf,
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

/** The feature that distinguishes alerts by their whole content, where they have no fingerprint of their own. */
export const FINGERPRINTING = 'generic_alert_fingerprinting'

/** An alert in the generic format (docs/contract/C-resolved §1.3): every field is optional. */
export function readGeneric(
  payload: Payload,
  mappings: readonly FieldMapping[],
  { now, fingerprints }: { readonly now: Instant; readonly fingerprints: boolean },
): AlertInput {
  const mapped = readMapped(payload, mappings)
  const field = (name: string) => mapped(name)?.value ?? payload[name]
  const end = endOf(field('end_time'))
  return {
    title: textUpTo(field('title'), 200) ?? 'New: Alert',
    description: textUpTo(field('description'), 1000),
    severity: severityIn(field('severity')),
    service: textUpTo(field('service'), 100),
    monitoring_tool: textUpTo(field('monitoring_tool'), 100),
    hosts: hostsOf(field('hosts')),
    started_at: momentOf(field('start_time')) ?? now,
    ended_at: end ?? null,
    recovered: end !== undefined,
    fingerprint:
      givenFingerprint(field('fingerprint')) ?? (fingerprints ? fingerprintOf(payload) : null),
    environment: textUpTo(field('svc_environment_name'), 255),
    runbook: textUpTo(payload.runbook, 2000),
    query: null,
    incident_markdown: null,
    payload,
  }
}

function severityIn(value: unknown): Severity {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : ''
  return severities.find((one) => one === word) ?? 'critical'
}

/** What changes from one delivery of an alert to the next. */
const CHANGING = new Set(['start_time', 'end_time', 'hosts'])

/** All else that the payload says, whatever the order of its keys. */
function fingerprintOf(payload: Payload): string | null {
  const parts: string[] = []
  for (const [key, value] of Object.entries(payload)) {
    if (!CHANGING.has(key)) flatten(parts, key, value)
  }
  return parts.length === 0 ? null : sha1(parts.sort().join('\n'))
}

function flatten(parts: string[], path: string, value: unknown): void {
  if (isObject(value) || Array.isArray(value)) {
    const above = shortened(path)
    for (const [key, inner] of Object.entries(value)) flatten(parts, `${above}.${key}`, inner)
  } else if (present(value) !== undefined) parts.push(`${path}=${JSON.stringify(value)}`)
}

const LONG_PATH = 255

/** Each value below repeats the path: a long key above many of them would make gigabytes of a small payload. */
function shortened(path: string): string {
  return path.length > LONG_PATH ? sha1(path) : path
}
