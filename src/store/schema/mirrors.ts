import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Id, Optional, OptionalInstant } from './columns.ts'

export type MirrorStatus = 'none' | 'started' | 'finished' | 'to_retry' | 'failed'

export interface MirrorsSchema {
  /** Repositories of other servers that a project's is pushed to. */
  remote_mirrors: {
    id: Id
    project_id: number
    /** With name and password. */
    sealed_url: string
    enabled: DefaultFlag
    only_protected_branches: DefaultFlag
    keep_divergent_refs: DefaultFlag
    mirror_branch_regex: Optional<string>
    update_status: Default<MirrorStatus>
    last_error: Optional<string>
    /** The end of the last try. */
    last_update_at: OptionalInstant
    last_update_started_at: OptionalInstant
    last_successful_update_at: OptionalInstant
    created_at: Instant
    updated_at: Instant
  }

  /** Repositories of other servers that a project follows; whether it does, and how, is among its settings. */
  pull_mirrors: {
    id: Id
    project_id: number
    /** Whoever set it up: what is pulled counts as pushed by them. */
    user_id: Optional<number>
    sealed_url: string
    mirror_branch_regex: Optional<string>
    update_status: Default<Exclude<MirrorStatus, 'to_retry'>>
    /** Tries that failed since one went well. */
    failures: Default<number>
    last_error: Optional<string>
    last_update_at: OptionalInstant
    last_update_started_at: OptionalInstant
    last_successful_update_at: OptionalInstant
    created_at: Instant
    updated_at: Instant
  }
}
