import type { Ctx } from '../../ctx.ts'
import type { NoteRow } from '../../discussions/notes/entity.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { afterComment } from '../../discussions/references/after-comment.ts'
import { touchMergeRequest } from './queries.ts'

/** What follows from a comment on a merge request, in the same transaction. */
export async function afterNote(ctx: Ctx, noteable: Noteable, row: NoteRow): Promise<void> {
  if (noteable.id === null) return
  await touchMergeRequest(ctx.db, noteable.id, ctx.now())
  await afterComment(ctx, noteable, row, { type: 'MergeRequest', id: noteable.id })
}
