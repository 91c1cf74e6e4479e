import type { Caller } from '../support/world.ts'
import type { Ids, Place } from './records.ts'
import type { Stage } from './stage.ts'

/** Where an example is asked: the stage, and the group and project of one visibility. */
export interface Spot {
  readonly stage: Stage
  readonly place: Place
}

type Given<T> = T | ((spot: Spot) => T)

/** A good request for one endpoint. */
export interface Example {
  readonly body?: Given<Readonly<Record<string, unknown>>>
  /** A JSON text that is no object, sent as it is. */
  readonly raw?: string
  /** Sent as a form with files instead of JSON. */
  readonly form?: Readonly<Record<string, string | Blob>>
  readonly query?: Given<Readonly<Record<string, string>>>
  /** Path parameters beside those that every place has. */
  readonly path?: Given<Ids>
  /** What must be there first; may give further path parameters. Undone with the call. */
  readonly prepare?: (spot: Spot) => Promise<Ids | undefined>
  /** Who may surely do it, for the check that it answers well; the owner by default. */
  readonly by?: string
  /** Why it has no good answer on this stage; it is then shown well elsewhere. */
  readonly elsewhere?: string
  /** Why it can have no good answer at all. */
  readonly never?: string
}

export type Examples = Readonly<Record<string, Example>>

const SHORT: readonly (readonly [RegExp, string])[] = [
  [/^P(?=\/|$)/, '/projects/:id'],
  [/^G(?=\/|$)/, '/groups/:id'],
  [/\/IS(?=\/|$)/, '/issues/:issue_iid'],
  [/\/MR(?=\/|$)/, '/merge_requests/:merge_request_iid'],
]

/** Examples by `METHOD path`, where `P`, `G`, `IS` and `MR` stand for the paths of those records. */
export function examples(rows: Examples): Examples {
  return Object.fromEntries(
    Object.entries(rows).map(([key, example]) => {
      const [method, short = ''] = key.split(' ')
      const path = SHORT.reduce((text, [pattern, full]) => text.replace(pattern, full), short)
      return [`${method} ${path}`, example]
    }),
  )
}

/** The same row for projects and groups: `either('POST', '/badges', {...})`. */
export function either(rows: Examples): Examples {
  return Object.fromEntries(
    Object.entries(rows).flatMap(([key, example]) =>
      ['P', 'G'].map((form) => [key.replace(' ', ` ${form}`), example]),
    ),
  )
}

/** Calls as somebody and insists on success. */
export async function done(caller: Caller, method: string, path: string, body?: unknown) {
  const reply = await caller.call(method, path, method === 'GET' ? undefined : (body ?? {}))
  if (reply.status >= 300)
    throw new Error(`${method} ${path}: ${reply.status} ${JSON.stringify(reply.body)}`)
  return reply.body
}

export function owner({ stage }: Spot): Caller {
  return stage.callers.get('owner') as Caller
}
