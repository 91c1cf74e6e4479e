import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Id, Json, Optional, OptionalInstant } from './columns.ts'

export interface CiStartsSchema {
  /** A token that starts pipelines of a project as its owner. */
  ci_triggers: {
    id: Id
    project_id: number
    owner_id: Optional<number>
    description: string
    token_digest: Buffer
    /** Its owner may read it again. */
    sealed_token: string
    /** The first letters of the secret, which everybody else sees. */
    token_start: string
    expires_at: OptionalInstant
    last_used_at: OptionalInstant
    created_at: Instant
    updated_at: Instant
  }

  /** A pipeline that starts by the clock, as its owner. */
  ci_schedules: {
    id: Id
    project_id: number
    owner_id: Optional<number>
    description: string
    /** In full, as `refs/heads/main`. */
    ref: string
    cron: string
    cron_timezone: string
    active: DefaultFlag
    next_run_at: OptionalInstant
    /** JSON list of {name, value}. */
    inputs: Json
    created_at: Instant
    updated_at: Instant
  }

  ci_schedule_variables: {
    id: Id
    schedule_id: number
    key: string
    sealed_value: string
    variable_type: Default<'env_var' | 'file'>
    raw: DefaultFlag
  }

  /** A run by hand that somebody waits for. */
  ci_schedule_plays: {
    id: Id
    schedule_id: number
  }
}
