import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import { runEffects } from '../../../base/effects.ts'
import { notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { resolveThread } from '../../../discussions/notes/access.ts'
import { lineCode } from '../../../discussions/notes/diff-lines.ts'
import type { NoteRow } from '../../../discussions/notes/entity.ts'
import type { Noteable, Position } from '../../../discussions/notes/noteable.ts'
import { listNotesOfDiscussions } from '../../../discussions/notes/queries.ts'
import { createNote, scopeOf } from '../../../discussions/notes/verbs.ts'
import { callerId } from '../../../identity/users/find-user.ts'
import type { NewRowOf } from '../../../store/schema.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { afterNote } from '../after-note.ts'
import { noteReview } from '../change/reviewers.ts'
import { noteableOf } from '../find.ts'
import { forgetStartedReview } from '../people/queries.ts'
import type { MergeRequestRow } from '../row.ts'
import { type DraftRow, deleteDraft, insertDraft, listDrafts } from './queries.ts'

/** The drafts that the caller has written and not published. */
export function listOwnDrafts(ctx: Ctx, row: MergeRequestRow): Promise<DraftRow[]> {
  return listDrafts(ctx.db, row.id, userOf(ctx.actor)?.id ?? 0)
}

/** Turns drafts into comments that everybody sees, all or none; each once, however often it is asked. */
export async function publishDrafts(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  drafts: readonly DraftRow[],
): Promise<void> {
  const userId = callerId(ctx)
  const published = await inTransaction(ctx, async (ctx) => {
    const notes: NoteRow[] = []
    for (const draft of drafts) notes.push(...(await publish(ctx, project, row, draft)))
    if (drafts.length > 0) await noteReview(ctx, row.id, userId, 'reviewed')
    return notes
  })
  const noteable = noteableOf(ctx, project, row)
  for (const note of published) {
    await runEffects(ctx, ctx.effects.reviewNoteSaved, { noteable, row: note })
  }
}

async function publish(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  draft: DraftRow,
): Promise<NoteRow[]> {
  if (!(await deleteDraft(ctx.db, draft.id))) return []
  // Nothing but quick actions was in it.
  if (draft.note.trim() === '') return []
  const noteable = noteableOf(ctx, project, row)
  // What somebody has deleted meanwhile is answered in a thread of its own: nothing of a review is lost for it.
  const thread = draft.discussion_id
  const isThere = thread !== null && (await hasThread(ctx, noteable, thread))
  const position = draft.position === null ? undefined : (JSON.parse(draft.position) as Position) // written by us
  const place = isThere
    ? { discussionId: thread }
    : {
        thread: true,
        ...(position ? { position, lineCode: draft.line_code ?? codeOf(position) } : {}),
      }
  const note = await createNote(
    ctx,
    noteable,
    { body: draft.note, resolvable: true, commitId: draft.commit_id ?? undefined, ...place },
    (ctx, note) => afterNote(ctx, noteable, note),
  )
  if (draft.resolve_discussion === 1 && isThere) {
    await resolveThread(ctx, noteable, note.discussion_id)
  }
  return [note]
}

async function hasThread(ctx: Ctx, noteable: Noteable, thread: string): Promise<boolean> {
  const all = { internal: true }
  return (await listNotesOfDiscussions(ctx.db, scopeOf(noteable), all, [thread])).length > 0
}

/** The place of a draft that was written when drafts did not keep it. */
function codeOf(position: Position): string {
  return lineCode(position.new_path, position.old_line ?? 0, position.new_line ?? 0)
}

/** Keeps a draft; a reviewer who writes one has started. */
export function saveDraft(ctx: Ctx, draft: NewRowOf<'draft_notes'>): Promise<DraftRow> {
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
