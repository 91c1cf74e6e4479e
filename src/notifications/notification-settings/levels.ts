import type { NotificationLevel } from '../../store/schema/accounts.ts'

export const LEVELS = [
  'disabled',
  'participating',
  'watch',
  'global',
  'mention',
  'custom',
] as const satisfies readonly NotificationLevel[]

/** Events that the level `custom` chooses among, in the order of the answer (docs/contract/A-resolved §13). */
export const EVENTS = [
  'new_release',
  'new_note',
  'new_issue',
  'reopen_issue',
  'close_issue',
  'reassign_issue',
  'issue_due',
  'new_merge_request',
  'push_to_merge_request',
  'reopen_merge_request',
  'close_merge_request',
  'reassign_merge_request',
  'change_reviewer_merge_request',
  'merge_merge_request',
  'failed_pipeline',
  'fixed_pipeline',
  'success_pipeline',
  'moved_project',
  'merge_when_pipeline_succeeds',
  'approver',
] as const

/** Epics belong to groups. */
export const GROUP_EVENTS = [...EVENTS, 'new_epic'] as const

export type NotificationEvent = (typeof GROUP_EVENTS)[number]
export type EventChoices = Readonly<Partial<Record<NotificationEvent, boolean | null>>>

/** What `watch` leaves out. */
const NOT_WATCHED: readonly NotificationEvent[] = [
  'push_to_merge_request',
  'issue_due',
  'success_pipeline',
  'approver',
]

/** What nothing was said of, and counts as chosen all the same. */
const CHOSEN_UNLESS_REFUSED: readonly NotificationEvent[] = ['failed_pipeline', 'fixed_pipeline']

export function isChosen(events: EventChoices, event: NotificationEvent): boolean {
  return events[event] ?? CHOSEN_UNLESS_REFUSED.includes(event)
}

/** How somebody stands to what happened. */
export interface Involvement {
  readonly mentioned: boolean
  /** Author, assignee, reviewer, commenter, or subscribed. */
  readonly participating: boolean
}

/** Whether somebody with this level gets mail about an event (docs/contract/A-resolved §13). */
export function isNotified(
  level: NotificationLevel,
  events: EventChoices,
  event: NotificationEvent,
  how: Involvement,
): boolean {
  switch (level) {
    case 'disabled':
      return false
    case 'mention':
      return how.mentioned
    case 'watch':
      return how.mentioned || how.participating || !NOT_WATCHED.includes(event)
    case 'custom':
      return how.mentioned || how.participating || isChosen(events, event)
    case 'participating':
    case 'global':
      return how.mentioned || how.participating
  }
}
