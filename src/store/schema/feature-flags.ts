import type { Instant } from '../../base/clock.ts'
import type { DefaultFlag, Flag, Id, Json, Optional } from './columns.ts'

export type StrategyName =
  | 'default'
  | 'gradualRolloutUserId'
  | 'userWithId'
  | 'gitlabUserList'
  | 'flexibleRollout'

export interface FeatureFlagsSchema {
  feature_flag_user_lists: {
    id: Id
    iid: number
    project_id: number
    name: string
    /** Separated by commas. */
    user_xids: string
    created_at: Instant
    updated_at: Instant
  }

  feature_flags: {
    id: Id
    iid: number
    project_id: number
    name: string
    description: Optional<string>
    active: DefaultFlag
    created_at: Instant
    updated_at: Instant
  }

  feature_flag_strategies: {
    id: Id
    feature_flag_id: number
    name: StrategyName
    /** JSON map of texts. */
    parameters: Json
    user_list_id: Optional<number>
  }

  feature_flag_scopes: {
    id: Id
    strategy_id: number
    environment_scope: string
  }

  /** The key with which programs read the feature flags of a project. */
  feature_flag_clients: {
    project_id: number
    sealed_token: string
    token_digest: Buffer
    created_at: Instant
  }

  /** Whether other projects need to be listed to reach a project with job tokens; without a row they do. */
  ci_job_token_scopes: {
    project_id: number
    inbound_enabled: Flag
  }

  /** A project, or all projects of a group, whose jobs may reach a project. */
  ci_job_token_allowed: {
    id: Id
    project_id: number
    target_project_id: Optional<number>
    target_group_id: Optional<number>
    added_by_id: Optional<number>
    created_at: Instant
  }
}
