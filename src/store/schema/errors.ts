import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Flag, Id, Optional } from './columns.ts'

export interface ErrorsSchema {
  error_tracking_settings: {
    project_id: number
    active: Flag
    integrated: Flag
  }

  /** Keys that programs report with; they are in the hands of everybody who has the program, and no secrets. */
  error_client_keys: {
    id: Id
    project_id: number
    active: DefaultFlag
    public_key: string
    created_at: Instant
  }

  /** Events that are alike. */
  errors: {
    id: Id
    project_id: number
    name: string
    actor: string
    platform: string
    description: string
    /** The place in `errorStatuses`. */
    status: Default<number>
    level: Optional<string>
    logger: Optional<string>
    events: number
    users: number
    first_seen: Instant
    last_seen: Instant
    first_release: Optional<string>
    last_release: Optional<string>
    /** Of how many events one is kept. */
    stride: number
    issue_id: Optional<number>
    resolved_at: Optional<Instant>
    /** What it takes with its events; triggers count. */
    bytes: Default<number>
  }

  /** How many bytes of errors a project keeps; triggers count. */
  error_sizes: {
    project_id: number
    bytes: number
  }

  /** The events of an error that are kept: the first, the last, and a sample between. */
  error_events: {
    id: Id
    error_id: number
    /** Counted from 1. */
    number: number
    event_id: string
    received_at: Instant
    /** The event's JSON, packed with gzip. */
    payload: Buffer
  }

  /** Reports that are on the disk and wait to be counted, in their order. */
  error_reports: {
    id: Id
    project_id: number
    received_at: Instant
    /** What is counted: a `ReportedEvent` as JSON. */
    event: string
    /** The event's JSON as it was sent: most reports are counted and not kept. */
    payload: Buffer
  }

  /** Releases and environments of an error, empty where an event names none. */
  error_places: {
    error_id: number
    release: string
    environment: string
    events: number
    first_seen: Instant
    last_seen: Instant
  }

  /** Ids of the latest events of a project: one that is sent again counts once. */
  error_event_ids: {
    id: Id
    project_id: number
    event_id: string
  }

  /** People who met an error, by a digest of what names them. */
  error_users: {
    error_id: number
    user_hash: Buffer
  }

  /** Events of an error by the hour since 1970. */
  error_hours: {
    error_id: number
    hour: number
    events: number
  }
}
