import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import type { Work } from '../../store/schema/issues.ts'
import type { NewRowOf } from '../../store/schema.ts'
import { insertResourceEvent } from './queries.ts'

/** Something whose changes are kept: an issue or a merge request. */
export interface ChangedSubject {
  readonly type: Work
  readonly id: number
}

type Kept = Omit<
  NewRowOf<'resource_events'>,
  'id' | 'subject_type' | 'subject_id' | 'user_id' | 'created_at'
>

async function record(ctx: Ctx, subject: ChangedSubject, values: Kept): Promise<void> {
  await insertResourceEvent(ctx.db, {
    ...values,
    subject_type: subject.type,
    subject_id: subject.id,
    user_id: userOf(ctx.actor)?.id ?? null,
    created_at: ctx.now(),
  })
}

/** Keeps which labels came and went, in the caller's transaction. */
export async function recordLabelEvents(
  ctx: Ctx,
  subject: ChangedSubject,
  added: readonly { readonly id: number }[],
  removed: readonly { readonly id: number }[],
): Promise<void> {
  for (const label of added)
    await record(ctx, subject, { kind: 'label', action: 'add', label_id: label.id })
  for (const label of removed)
    await record(ctx, subject, { kind: 'label', action: 'remove', label_id: label.id })
}

/** Keeps a change of the milestone: taking one away names the one that went. */
export async function recordMilestoneEvent(
  ctx: Ctx,
  subject: ChangedSubject,
  before: number | null,
  after: number | null,
): Promise<void> {
  if (before === after) return
  if (before !== null)
    await record(ctx, subject, { kind: 'milestone', action: 'remove', milestone_id: before })
  if (after !== null)
    await record(ctx, subject, { kind: 'milestone', action: 'add', milestone_id: after })
}

/** Keeps a change of state: `closed`, `reopened`, `merged`. */
export function recordStateEvent(
  ctx: Ctx,
  subject: ChangedSubject,
  state: string,
  by: { readonly commit?: string | undefined; readonly mergeRequestId?: number | undefined } = {},
): Promise<void> {
  return record(ctx, subject, {
    kind: 'state',
    state,
    source_commit: by.commit ?? null,
    source_merge_request_id: by.mergeRequestId ?? null,
  })
}

export function recordWeightEvent(
  ctx: Ctx,
  subject: ChangedSubject,
  weight: number | null,
): Promise<void> {
  return record(ctx, subject, { kind: 'weight', weight })
}
