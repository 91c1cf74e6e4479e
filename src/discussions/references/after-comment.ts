import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import type { NoteRow } from '../notes/entity.ts'
import type { Noteable } from '../notes/noteable.ts'
import { completeTodos } from '../todos/add.ts'
import { followText } from './follow-text.ts'

/** What follows from a comment on an issue or merge request: activity, the writer's to-dos are done, mentions. */
export async function afterComment(
  ctx: Ctx,
  noteable: Noteable,
  row: NoteRow,
  target: { readonly type: 'Issue' | 'MergeRequest'; readonly id: number },
): Promise<void> {
  await runEffects(ctx, ctx.effects.activity, {
    projectId: noteable.project.id,
    action: 'commented on',
    targetType: 'Note',
    targetId: row.id,
    targetIid: noteable.iid ?? undefined,
    targetTitle: noteable.title,
    noteId: row.id,
  })
  await completeTodos(ctx, target)
  await followText(ctx, noteable, row.body, row)
}
