import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import type { NoteRow } from '../../discussions/notes/entity.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { followText } from '../../discussions/references/follow-text.ts'
import { completeTodos } from '../../discussions/todos/add.ts'
import { touchMergeRequest } from './queries.ts'

/** What follows from a comment on a merge request, in the same transaction. */
export async function afterNote(ctx: Ctx, noteable: Noteable, row: NoteRow): Promise<void> {
  if (noteable.id === null) return
  await touchMergeRequest(ctx.db, noteable.id, ctx.now())
  await runEffects(ctx, ctx.effects.activity, {
    projectId: noteable.project.id,
    action: 'commented on',
    targetType: 'Note',
    targetId: row.id,
    targetIid: noteable.iid ?? undefined,
    targetTitle: noteable.title,
    noteId: row.id,
  })
  const target = {
    type: 'MergeRequest',
    id: noteable.id,
    projectId: noteable.project.id,
  } as const
  await completeTodos(ctx, target)
  await followText(ctx, noteable, row.body, row)
}
