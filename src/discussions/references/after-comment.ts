import { runEffects } from '../../base/effects.ts'
import type { Ctx } from '../../ctx.ts'
import type { NoteRow } from '../notes/entity.ts'
import type { Noteable } from '../notes/noteable.ts'
import { completeTodos } from '../todos/add.ts'
import { followText } from './follow-text.ts'

/** Puts a comment into the feed of its project. */
export async function recordComment(
  ctx: Ctx,
  noteable: Noteable,
  row: NoteRow,
  targetType: string = 'Note',
): Promise<void> {
  await runEffects(ctx, ctx.effects.activity, {
    projectId: noteable.project.id,
    action: 'commented on',
    targetType,
    targetId: row.id,
    targetIid: noteable.iid ?? undefined,
    targetTitle: noteable.title,
    noteId: row.id,
  })
}

/** What follows from a comment on an issue or merge request: activity, the writer's to-dos are done, mentions. */
export async function afterComment(
  ctx: Ctx,
  noteable: Noteable,
  row: NoteRow,
  target: { readonly type: 'Issue' | 'MergeRequest'; readonly id: number },
): Promise<void> {
  await recordComment(ctx, noteable, row)
  await completeTodos(ctx, target)
  await followText(ctx, noteable, row.body, row)
}
