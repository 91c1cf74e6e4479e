import type { Instant } from '../../base/clock.ts'
import type { Id, Optional } from './columns.ts'

export interface BadgesSchema {
  /** A badge belongs to a project or to a group. */
  badges: {
    id: Id
    project_id: Optional<number>
    group_id: Optional<number>
    name: Optional<string>
    link_url: string
    image_url: string
    created_at: Instant
    updated_at: Instant
  }
}
