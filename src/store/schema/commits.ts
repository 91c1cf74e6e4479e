import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Id, Json, Optional, OptionalInstant } from './columns.ts'

export type PipelineStatus =
  | 'created'
  | 'waiting_for_resource'
  | 'preparing'
  | 'pending'
  | 'running'
  | 'success'
  | 'failed'
  | 'canceling'
  | 'canceled'
  | 'skipped'
  | 'manual'
  | 'scheduled'

export interface CommitsSchema {
  /** A run of checks for one commit; statuses that others report make one with source `external`. */
  pipelines: {
    id: Id
    iid: number
    project_id: number
    sha: string
    /** A branch or tag, short. */
    ref: string
    tag: DefaultFlag
    source: string
    status: Default<PipelineStatus>
    name: Optional<string>
    user_id: Optional<number>
    started_at: OptionalInstant
    finished_at: OptionalInstant
    created_at: Instant
    updated_at: Instant
    /** Where a pushed ref was before; null when it is unknown. */
    before_sha: Optional<string>
    /** Why no job could be made of the configuration. */
    yaml_errors: Optional<string>
    /** The ref was protected when it began. */
    protected: DefaultFlag
    /** The merge request that it was made for. */
    merge_request_id: Optional<number>
    /** `merged_result` runs on a trial merge, `detached` on the head of the source branch. */
    merge_request_event: Optional<'detached' | 'merged_result'>
    source_sha: Optional<string>
    target_sha: Optional<string>
    /** JSON: `CI_MERGE_REQUEST_…`, and what else its jobs learn of how it began. */
    request_variables: Json
    /** Which jobs a newer pipeline of the ref may cancel (`workflow:auto_cancel`). */
    on_new_commit: Default<'conservative' | 'interruptible' | 'none'>
    on_job_failure: Default<'none' | 'all'>
    /** The newer pipeline that canceled it. */
    canceled_by_id: Optional<number>
    schedule_id: Optional<number>
    trigger_id: Optional<number>
  }

  /** What somebody outside reports about a commit. */
  commit_statuses: {
    id: Id
    project_id: number
    pipeline_id: number
    sha: string
    ref: string
    stage: Default<string>
    name: string
    status: PipelineStatus
    target_url: Optional<string>
    description: Optional<string>
    coverage: Optional<number>
    allow_failure: DefaultFlag
    failure_reason: Optional<string>
    /** A later status of the same name and pipeline took its place. */
    retried: DefaultFlag
    user_id: Optional<number>
    started_at: OptionalInstant
    finished_at: OptionalInstant
    created_at: Instant
    updated_at: Instant
  }

  /** Lines that a commit added and deleted; they never change. */
  contributor_lines: {
    project_id: number
    commit_id: string
    additions: number
    deletions: number
  }

  /** Who made the commits up to a tip, added up. */
  contributor_totals: {
    project_id: number
    tip: string
    /** JSON */
    totals: string
    used_at: Instant
  }
}
