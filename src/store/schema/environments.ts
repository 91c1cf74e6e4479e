import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Id, Optional, OptionalInstant } from './columns.ts'

export type Tier = 'production' | 'staging' | 'testing' | 'development' | 'other'

export type DeploymentStatus =
  | 'created'
  | 'running'
  | 'success'
  | 'failed'
  | 'canceled'
  | 'skipped'
  | 'blocked'

export type ProcessMode = 'unordered' | 'oldest_first' | 'newest_first' | 'newest_ready_first'

export interface EnvironmentsSchema {
  /** A place that jobs deploy to. */
  environments: {
    id: Id
    project_id: number
    name: string
    slug: string
    external_url: Optional<string>
    description: Optional<string>
    tier: Tier
    state: Default<'available' | 'stopping' | 'stopped'>
    auto_stop_at: OptionalInstant
    auto_stop_setting: Default<'always' | 'with_action'>
    created_at: Instant
    updated_at: Instant
  }

  /** What a job, or somebody through the API, put into an environment. */
  deployments: {
    id: Id
    iid: number
    project_id: number
    environment_id: number
    job_id: Optional<number>
    user_id: Optional<number>
    ref: string
    tag: DefaultFlag
    sha: string
    status: DeploymentStatus
    /** The name of the job in the same pipeline that stops the environment. */
    on_stop: Optional<string>
    created_at: Instant
    updated_at: Instant
    finished_at: OptionalInstant
  }

  deployment_approvals: {
    id: Id
    deployment_id: number
    user_id: number
    status: 'approved' | 'rejected'
    comment: Optional<string>
    created_at: Instant
  }

  /** A time, by the clock, in which `CI_DEPLOY_FREEZE` is set. */
  ci_freeze_periods: {
    id: Id
    project_id: number
    freeze_start: string
    freeze_end: string
    cron_timezone: string
    created_at: Instant
    updated_at: Instant
  }

  /** Which of the jobs that wait for a resource gets it next. */
  ci_resource_groups: {
    id: Id
    project_id: number
    key: string
    process_mode: ProcessMode
    created_at: Instant
    updated_at: Instant
  }

  /** A merge request that came with a deployment. */
  deployed_merge_requests: {
    deployment_id: number
    merge_request_id: number
  }

  /** Belongs to a project, where `name` is an environment, or to a group, where it is a tier. */
  protected_environments: {
    id: Id
    project_id: Optional<number>
    group_id: Optional<number>
    name: string
    required_approval_count: Default<number>
    created_at: Instant
    updated_at: Instant
  }

  /** One who may deploy, or whose approval a deployment needs: exactly one of the three columns is set. */
  protected_environment_levels: {
    id: Id
    protected_environment_id: number
    kind: 'deploy' | 'approval'
    access_level: Optional<number>
    user_id: Optional<number>
    group_id: Optional<number>
    /** 0: direct members of the group, 1: inherited ones too. */
    group_inheritance_type: Default<number>
    required_approvals: Default<number>
  }
}
