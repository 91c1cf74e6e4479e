import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import type { NoteRow } from '../notes/entity.ts'
import type { Noteable } from '../notes/noteable.ts'
import { followText } from '../references/follow-text.ts'

/** What follows from a comment on a commit, in the same transaction. */
export async function afterCommitNote(ctx: Ctx, noteable: Noteable, row: NoteRow): Promise<void> {
  await runEffects(ctx, ctx.effects.activity, {
    projectId: noteable.project.id,
    action: 'commented on',
    targetType: 'Note',
    targetId: row.id,
    targetTitle: noteable.title,
    noteId: row.id,
  })
  await followText(ctx, noteable, row.body, row)
}
