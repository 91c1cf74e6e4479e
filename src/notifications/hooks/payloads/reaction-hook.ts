import type { Ctx } from '../../../ctx.ts'
import type { ChangedReaction } from '../../../discussions/effects.ts'
import { fireHooks } from '../fire.ts'
import { reactedPayload } from './note-hook.ts'
import { hookActor, hookProject } from './payload-parts.ts'

/** Notifies the hooks of a reaction that was given or taken back, in the caller's transaction (docs/contract/D §1.25). */
export async function fireReactionHooks(
  ctx: Ctx,
  { subject, row, action }: ChangedReaction,
): Promise<void> {
  const { noteable, note } = subject
  await fireHooks(ctx, noteable.project, 'emoji', async () => ({
    object_kind: 'emoji',
    event_type: action,
    user: await hookActor(ctx),
    project_id: noteable.project.id,
    project: hookProject(ctx, noteable.project),
    object_attributes: {
      id: row.award_id,
      user_id: row.id,
      name: row.award_name,
      awardable_type: subject.type,
      awardable_id: subject.id,
      created_at: row.awarded_at,
      updated_at: row.changed_at,
      action,
      awarded_on_url: note ? `${noteable.webUrl}#note_${note.id}` : noteable.webUrl,
    },
    ...(await reactedPayload(ctx, noteable, note)),
  }))
}
