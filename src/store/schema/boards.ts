import type { Instant } from '../../base/clock.ts'
import type { DefaultFlag, Id, Optional } from './columns.ts'

export interface BoardsSchema {
  boards: {
    id: Id
    project_id: Optional<number>
    group_id: Optional<number>
    name: string
    hide_backlog_list: DefaultFlag
    hide_closed_list: DefaultFlag
    milestone_id: Optional<number>
    assignee_id: Optional<number>
    weight: Optional<number>
    created_at: Instant
    updated_at: Instant
  }

  board_labels: {
    board_id: number
    label_id: number
  }

  /** A column of a board: exactly one of label, assignee and milestone. Positions count from 0. */
  board_lists: {
    id: Id
    board_id: number
    label_id: Optional<number>
    assignee_id: Optional<number>
    milestone_id: Optional<number>
    position: number
    created_at: Instant
    updated_at: Instant
  }
}
