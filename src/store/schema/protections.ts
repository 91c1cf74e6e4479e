import type { Instant } from '../../base/clock.ts'
import type { Default, Id, Optional } from './columns.ts'

export interface ProtectionsSchema {
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
