import type { Endpoint } from '../../src/http/endpoint.ts'
import { requiredOf } from '../support/plain-input.ts'
import type { Caller, Reply } from '../support/world.ts'
import type { Example } from './example.ts'
import { allExamples } from './examples.ts'
import { pathIn } from './path-ids.ts'
import type { Ids, Place } from './records.ts'
import type { Stage } from './stage.ts'

export function exampleOf(endpoint: Endpoint): Example {
  return allExamples[`${endpoint.method} ${endpoint.path}`] ?? {}
}

function given<T>(
  value: T | ((spot: { stage: Stage; place: Place }) => T),
  stage: Stage,
  place: Place,
) {
  // Examples are plain values or functions of the spot, never functions as values.
  return typeof value === 'function'
    ? (value as (spot: { stage: Stage; place: Place }) => T)({ stage, place })
    : value
}

/** The prepared request of an endpoint at a place; asked by any caller. */
export interface Question {
  readonly path: string
  ask(caller: Caller): Promise<Reply>
  /** The same with some parameters of the query or body changed; `undefined` leaves one out. */
  askWith(caller: Caller, change: Readonly<Record<string, unknown>>): Promise<Reply>
  /** The same on a path one of whose parameters is this text, sent as it is. */
  askAt(caller: Caller, name: string, text: string): Promise<Reply>
}

/** Prepares what an example needs, and gives its request. */
export async function questionFor(
  stage: Stage,
  place: Place,
  endpoint: Endpoint,
): Promise<Question> {
  const example = exampleOf(endpoint)
  const prepared = await example.prepare?.({ stage, place })
  const own: Ids = { ...given(example.path ?? {}, stage, place), ...prepared }
  const reads = endpoint.method === 'GET' || endpoint.method === 'HEAD'
  const query = {
    ...(reads ? (requiredOf(endpoint.query) as Record<string, string>) : {}),
    ...given(example.query ?? {}, stage, place),
  }
  const path = pathIn(place, endpoint.path, own)
  const body = reads
    ? undefined
    : (given(example.body, stage, place) ??
      requiredOf({ ...(example.query ? {} : endpoint.query), ...endpoint.body }))
  const host = endpoint.host ? { host: true } : {}
  function call(
    caller: Caller,
    change: Readonly<Record<string, unknown>>,
    at = path,
  ): Promise<Reply> {
    const goesInQuery = (name: string) =>
      reads || endpoint.raw || name in query || `${name}[]` in query
    const entries = Object.entries(change)
    const others = Object.entries(query).filter(([name]) => !(name.replace(/\[\]$/, '') in change))
    const url = withQuery(at, {
      ...Object.fromEntries(others),
      ...Object.fromEntries(entries.filter(([name]) => goesInQuery(name))),
    })
    const inBody = Object.fromEntries(entries.filter(([name]) => !goesInQuery(name)))
    if (example.raw !== undefined) {
      const headers = { 'Content-Type': 'application/json' }
      return caller.call(endpoint.method, url, undefined, { ...host, headers, raw: example.raw })
    }
    if (!example.form) {
      return caller.call(endpoint.method, url, body && { ...body, ...inBody }, host)
    }
    return caller.call(endpoint.method, url, undefined, {
      ...host,
      raw: formOf({ ...example.form, ...inBody }),
    })
  }
  return {
    path: withQuery(path, query),
    ask: (caller) => call(caller, {}),
    askWith: (caller, change) => call(caller, change),
    askAt: (caller, name, text) => {
      const template = endpoint.path.replace(new RegExp(`[:*]${name}(?!\\w)`), () => text)
      return call(caller, {}, pathIn(place, template, own))
    },
  }
}

function withQuery(path: string, query: Readonly<Record<string, unknown>>): string {
  const search = Object.entries(query).flatMap(([name, value]) => pairsOf(name, value))
  return search.length === 0 ? path : `${path}?${search.join('&')}`
}

function pairsOf(name: string, value: unknown): string[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.flatMap((one) => pairsOf(`${name}[]`, one))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([key, one]) => pairsOf(`${name}[${key}]`, one))
  }
  return [`${encodeURIComponent(name)}=${encodeURIComponent(String(value).toWellFormed())}`]
}

function formOf(fields: Readonly<Record<string, unknown>>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof Blob) form.set(name, value, 'file.txt')
    else if (typeof value === 'string') form.set(name, value)
    else if (value !== undefined) form.set(`${name}[is]`, 'no text')
  }
  return form
}

/** Whether calling it changed what the next call would see. */
export function hasChanged({ method }: Endpoint, reply: Reply): boolean {
  return method !== 'GET' && method !== 'HEAD' && reply.status < 400
}

const KEEPS_REPOSITORIES =
  /\/(badges|labels|boards|milestones|hooks|members|invitations|access_requests|access_tokens|deploy_tokens|deploy_keys|service_accounts|custom_attributes|notification_settings|issues|notes|discussions|award_emoji|approvals?|approval_rules|protected_\w+|push_rule|uploads|share|todos|topics|users?|broadcast_messages|features|application|alert_management|alert_management_alerts|incident_management_settings|error_tracking|errortracking|variables|triggers?|pipeline_schedules|jobs|runners|environments|deployments|feature_flags\w*|freeze_periods|resource_groups|secure_files|job_token_scope|packages|registry|virtual_registries|terraform|keys|gpg_keys|emails|applications|plan_limits|metadata)(\/|$)/

/** Whether a call of it may have written to a repository. */
export function mayWriteRepository(endpoint: Endpoint): boolean {
  return !KEEPS_REPOSITORIES.test(endpoint.path)
}
