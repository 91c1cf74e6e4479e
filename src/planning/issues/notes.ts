import type { Ctx } from '../../ctx.ts'
import type { NoteRow } from '../../discussions/notes/entity.ts'
import type { Noteable } from '../../discussions/notes/noteable.ts'
import { afterComment } from '../../discussions/references/after-comment.ts'
import { updateIssue } from './queries.ts'

/** What follows from a comment on an issue, in the same transaction. */
export async function afterIssueNote(ctx: Ctx, noteable: Noteable, row: NoteRow): Promise<void> {
  if (noteable.id === null) return
  await updateIssue(ctx.db, noteable.id, { updated_at: ctx.now() })
  await afterComment(ctx, noteable, row, { type: 'Issue', id: noteable.id })
}
