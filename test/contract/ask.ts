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
  const search = new URLSearchParams(query).toString()
  const path = pathIn(place, endpoint.path, own) + (search === '' ? '' : `?${search}`)
  const body = reads
    ? undefined
    : (given(example.body, stage, place) ??
      requiredOf({ ...(example.query ? {} : endpoint.query), ...endpoint.body }))
  return {
    path,
    ask(caller) {
      const host = endpoint.host ? { host: true } : {}
      if (!example.form) return caller.call(endpoint.method, path, body, host)
      const form = new FormData()
      for (const [name, value] of Object.entries(example.form))
        if (typeof value === 'string') form.set(name, value)
        else form.set(name, value, 'file.txt')
      return caller.call(endpoint.method, path, undefined, { ...host, raw: form })
    },
  }
}

/** Whether calling it may have changed anything that the next call would see. */
export function mayChange(endpoint: Endpoint, reply: Reply): boolean {
  const reads = endpoint.method === 'GET' || endpoint.method === 'HEAD'
  return exampleOf(endpoint).prepare !== undefined || (!reads && reply.status < 400)
}

const KEEPS_REPOSITORIES =
  /\/(badges|labels|boards|milestones|hooks|members|invitations|access_requests|access_tokens|deploy_tokens|deploy_keys|service_accounts|custom_attributes|notification_settings|issues|notes|discussions|award_emoji|approvals?|approval_rules|protected_\w+|push_rule|uploads|share|todos|topics|users?|broadcast_messages|features|application|alert_management|alert_management_alerts|incident_management_settings|error_tracking)(\/|$)/

/** Whether a call of it may have written to a repository. */
export function mayWriteRepository(endpoint: Endpoint): boolean {
  return !KEEPS_REPOSITORIES.test(endpoint.path)
}
