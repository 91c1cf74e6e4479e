import { userOf } from '../../access/actor.ts'
import type { Instant } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import { insertTimelineEvent, type TimelineEventRow } from './timeline-queries.ts'

export interface TimelineInput {
  /** Why it is there: `comment` by hand, `issues`, `severity` or `status` by itself. */
  readonly action: 'comment' | 'issues' | 'severity' | 'status'
  readonly note: string
  readonly occurredAt: Instant
}

/** Adds to the timeline of an incident, in the caller's transaction where there is one. */
export function addTimelineEvent(
  ctx: Ctx,
  issueId: number,
  { action, note, occurredAt }: TimelineInput,
): Promise<TimelineEventRow> {
  return insertTimelineEvent(ctx.db, {
    issue_id: issueId,
    author_id: userOf(ctx.actor)?.id ?? null,
    action,
    note,
    occurred_at: occurredAt,
    created_at: ctx.now(),
    updated_at: ctx.now(),
  })
}
