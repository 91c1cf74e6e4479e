import { dayOf, type Instant } from '../../base/clock.ts'

/** What can be done to a project or group as a whole, and undone. */
export type StateChange = 'archived' | 'unarchived' | 'marked_for_deletion' | 'restored'

/** The columns that a change of state sets. */
export function stateAfter(change: StateChange, now: Instant) {
  switch (change) {
    case 'archived':
      return { archived: true }
    case 'unarchived':
      return { archived: false }
    case 'marked_for_deletion':
      return { marked_for_deletion_on: dayOf(now) }
    case 'restored':
      return { marked_for_deletion_on: null }
  }
}
