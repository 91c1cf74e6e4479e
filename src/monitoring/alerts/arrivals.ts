import type { Instant } from '../../base/clock.ts'
import type { Ctx } from '../../ctx.ts'
import type { NewRowOf } from '../../store/schema.ts'
import { countEvents, insertAlert, updateAlert } from './queries.ts'
import { RESOLVED } from './words.ts'

/** Adds an alert with what its sender sent, in the caller's transaction. */
export function addAlert(
  ctx: Ctx,
  values: NewRowOf<'alerts'>,
  payload: Readonly<Record<string, unknown>>,
): Promise<number> {
  return insertAlert(ctx.db, values, JSON.stringify(payload))
}

/** Counts further events of alerts that are open, by their ids. */
export function addEvents(ctx: Ctx, events: ReadonlyMap<number, number>): Promise<void> {
  return countEvents(ctx.db, events)
}

/** The sender says that it is over. */
export async function markRecovered(ctx: Ctx, id: number, endedAt: Instant): Promise<void> {
  await updateAlert(ctx.db, id, { status: RESOLVED, ended_at: endedAt }, ctx.now())
}

/** The alert has an incident from here on. */
export async function linkIncident(ctx: Ctx, id: number, issueId: number): Promise<void> {
  await updateAlert(ctx.db, id, { issue_id: issueId }, ctx.now())
}
