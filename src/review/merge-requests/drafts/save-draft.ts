import type { Insertable } from 'kysely'
import { notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import type { DraftNotesTable } from '../../../store/schema/merge-requests.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { noteReview } from '../change/reviewers.ts'
import { forgetStartedReview } from '../people/queries.ts'
import { type DraftRow, deleteDraft, insertDraft, listDrafts } from './queries.ts'

/** Keeps a draft; a reviewer who writes one has started. */
export function saveDraft(ctx: Ctx, draft: Insertable<DraftNotesTable>): Promise<DraftRow> {
  return inTransaction(ctx, async (ctx) => {
    await noteReview(ctx, draft.merge_request_id, draft.author_id, 'review_started')
    return insertDraft(ctx.db, draft)
  })
}

/** Throws a draft away. */
export async function discardDraft(ctx: Ctx, draft: DraftRow): Promise<void> {
  const { merge_request_id: requestId, author_id: authorId } = draft
  await inTransaction(ctx, async (ctx) => {
    if (!(await deleteDraft(ctx.db, draft.id))) throw notFound('Draft Note')
    const left = await listDrafts(ctx.db, requestId, authorId)
    if (left.length === 0) await forgetStartedReview(ctx.db, requestId, authorId)
  })
}
