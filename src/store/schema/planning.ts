import type { Instant } from '../../base/clock.ts'
import type { Default, DefaultFlag, Flag, Id, Optional, OptionalDay } from './columns.ts'

export interface PlanningSchema {
  labels: {
    id: Id
    project_id: Optional<number>
    group_id: Optional<number>
    title: string
    color: string
    description: Optional<string>
    archived: DefaultFlag
    created_at: Instant
    updated_at: Instant
  }

  label_priorities: {
    project_id: number
    label_id: number
    priority: number
  }

  label_links: {
    subject_type: 'issue' | 'merge_request'
    subject_id: number
    label_id: number
  }

  milestones: {
    id: Id
    iid: number
    project_id: Optional<number>
    group_id: Optional<number>
    title: string
    description: Optional<string>
    state: Default<'active' | 'closed'>
    start_date: OptionalDay
    due_date: OptionalDay
    created_at: Instant
    updated_at: Instant
  }

  /** Whether a user is subscribed to a subject; a row with 0 is an explicit no. */
  subscriptions: {
    subject_type: 'issue' | 'merge_request' | 'label'
    subject_id: number
    user_id: number
    subscribed: Flag
    created_at: Instant
  }
}
