import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Flag, Id, Json, Optional, OptionalInstant } from './columns.ts'

export type RunnerType = 'instance_type' | 'group_type' | 'project_type'

export interface CiRunnersSchema {
  /** A runner: who may use it, and which jobs it takes. */
  ci_runners: {
    id: Id
    runner_type: RunnerType
    token_digest: Buffer
    /** The first letters of its token behind the prefix, by which people know it. */
    token_start: string
    token_expires_at: OptionalInstant
    registration: 'registration_token' | 'authenticated_user'
    creator_id: Optional<number>
    group_id: Optional<number>
    description: Optional<string>
    maintenance_note: Optional<string>
    paused: DefaultFlag
    locked: DefaultFlag
    run_untagged: DefaultFlag
    access_level: Default<'not_protected' | 'ref_protected'>
    /** Seconds. */
    maximum_timeout: Optional<number>
    /** JSON list. */
    tags: Json
    contacted_at: OptionalInstant
    created_at: Instant
    updated_at: Instant
  }

  /** A machine that uses the token of a runner. */
  ci_runner_managers: {
    id: Id
    runner_id: number
    system_id: string
    version: Optional<string>
    revision: Optional<string>
    platform: Optional<string>
    architecture: Optional<string>
    executor: Optional<string>
    ip_address: Optional<string>
    /** JSON: what the program says that it can do. */
    features: Json
    contacted_at: OptionalInstant
    created_at: Instant
  }

  /** Tokens that register runners of a group, of a project, or (neither) of the instance. */
  ci_registration_tokens: {
    id: Id
    group_id: Optional<number>
    project_id: Optional<number>
    digest: Buffer
    sealed_token: string
    created_at: Instant
  }

  /** The projects that a project runner serves; its owner is the first of them. */
  ci_runner_projects: {
    runner_id: number
    project_id: number
    owner: Flag
  }
}
