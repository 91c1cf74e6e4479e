import { userOf } from '../../access/actor.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { addSystemNote } from '../../discussions/notes/verbs.ts'
import type { Work } from '../../store/schema/issues.ts'
import { humanDuration } from './duration.ts'
import { deleteTimelogs, insertTimelog, insertTimeOf, sumTime } from './queries.ts'

/** An issue or merge request whose time is kept. */
export interface TimedSubject {
  readonly id: number
  readonly estimate: number
  readonly noteable: Noteable
}

/** How the time of one kind of thing is kept. */
export interface Timed {
  readonly type: Work
  /** Does what `change` does to the time, in a transaction, with what follows from a change of the thing. */
  edit(ctx: Ctx, subject: TimedSubject, change: (ctx: Ctx) => Promise<void>): Promise<void>
  saveEstimate(ctx: Ctx, subject: TimedSubject, seconds: number): Promise<void>
}

/** Sets the estimated time; 0 takes it away. */
export async function setEstimate(
  ctx: Ctx,
  timed: Timed,
  subject: TimedSubject,
  seconds: number,
): Promise<void> {
  await timed.edit(ctx, subject, async (ctx) => {
    await timed.saveEstimate(ctx, subject, seconds)
    const said =
      seconds === 0
        ? 'removed time estimate'
        : `changed time estimate to ${humanDuration(ctx, seconds)}`
    await addSystemNote(ctx, subject.noteable, 'time_tracking', said)
  })
}

/** Time that the caller spent, or takes back. */
export interface SpentTime {
  readonly seconds: number
  readonly summary: string | null
  /** When it was spent; now unless said. */
  readonly at?: string | undefined
}

/** Adds spent time; 400 when more would be taken back than there is. */
export async function spendTime(
  ctx: Ctx,
  timed: Timed,
  subject: TimedSubject,
  { seconds, summary, at }: SpentTime,
): Promise<void> {
  await timed.edit(ctx, subject, async (ctx) => {
    const before = await sumTime(ctx.db, timed.type, subject.id)
    if (before + seconds < 0) throw badRequest('Time to subtract exceeds the total time spent')
    await insertTimelog(ctx.db, {
      subject_type: timed.type,
      subject_id: subject.id,
      user_id: userOf(ctx.actor)?.id ?? null,
      seconds,
      summary,
      spent_at: at ?? ctx.now(),
      created_at: ctx.now(),
    })
    const said = `${seconds < 0 ? 'subtracted' : 'added'} ${humanDuration(ctx, Math.abs(seconds))} of time spent`
    await addSystemNote(ctx, subject.noteable, 'time_tracking', said)
  })
}

/** Takes all spent time away. */
export async function removeSpentTime(
  ctx: Ctx,
  timed: Timed,
  subject: TimedSubject,
): Promise<void> {
  await timed.edit(ctx, subject, async (ctx) => {
    await deleteTimelogs(ctx.db, timed.type, subject.id)
    await addSystemNote(ctx, subject.noteable, 'time_tracking', 'removed time spent')
  })
}

/** Gives a copy of a thing the time that was spent on the thing, in the caller's transaction. */
export function copyTime(
  ctx: Pick<Ctx, 'db'>,
  type: Work,
  fromId: number,
  toId: number,
): Promise<void> {
  return insertTimeOf(ctx.db, type, fromId, toId)
}
