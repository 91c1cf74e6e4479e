import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import type { NoteRow } from '../../discussions/notes/entity.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { followText } from '../../discussions/references/follow-text.ts'
import { completeTodos } from '../../discussions/todos/add.ts'
import { updateIssue } from './queries.ts'

/** What follows from a comment on an issue, in the same transaction. */
export async function afterIssueNote(ctx: Ctx, noteable: Noteable, row: NoteRow): Promise<void> {
  if (noteable.id === null) return
  await updateIssue(ctx.db, noteable.id, { updated_at: ctx.now() })
  await runEffects(ctx, ctx.effects.activity, {
    projectId: noteable.project.id,
    action: 'commented on',
    targetType: 'Note',
    targetId: row.id,
    targetIid: noteable.iid ?? undefined,
    targetTitle: noteable.title,
    noteId: row.id,
  })
  const target = { type: 'Issue', id: noteable.id, projectId: noteable.project.id } as const
  await completeTodos(ctx, target)
  await followText(ctx, noteable, row.body, row)
}
