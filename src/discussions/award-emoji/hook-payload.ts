import type { Ctx } from '../../ctx.ts'
import { fireHooks } from '../../notifications/hooks/fire.ts'
import { hookActor, hookProject } from '../../notifications/hooks/payload-parts.ts'
import { reactedPayload } from '../notes/hook-payload.ts'
import type { Awardable } from './awardable.ts'
import type { AwardRow } from './queries.ts'

/** Tells the hooks of a reaction that was given or taken back, in the caller's transaction (spec D §1.25). */
export async function fireEmojiHooks(
  ctx: Ctx,
  subject: Awardable,
  row: AwardRow,
  action: 'award' | 'revoke',
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
