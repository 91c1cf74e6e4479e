import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import type { Activity } from '../../projects/effects.ts'
import { eventOf, notifyPeople } from '../notifications/notification.ts'
import { findNote } from '../notifications/queries.ts'
import { insertEvent } from './queries.ts'

/** Adds to the feed of project and author, in the caller's transaction; what nobody did is not recorded. */
export async function recordEvent(ctx: Ctx, event: Activity): Promise<void> {
  const authorId = event.authorId ?? userOf(ctx.actor)?.id
  if (authorId === undefined) return
  await insertEvent(ctx.db, {
    project_id: event.projectId,
    author_id: authorId,
    action_name: event.action,
    target_type: event.targetType ?? null,
    target_id: event.targetId ?? null,
    target_iid: event.targetIid ?? null,
    target_title: event.targetTitle ?? null,
    push_data: event.pushData ? JSON.stringify(event.pushData) : null,
    note_id: event.noteId ?? null,
    created_at: ctx.now(),
  })
}

/** Whoever wants a mail about what happened to an issue or merge request gets one. */
export async function mailActivity(ctx: Ctx, event: Activity): Promise<void> {
  const author_id = event.authorId ?? userOf(ctx.actor)?.id
  if (author_id === undefined) return
  const { projectId, targetType, targetId, noteId } = event
  if (projectId === null || targetId === undefined) return
  if (noteId !== undefined) {
    const note = await findNote(ctx.db, noteId)
    const type = note?.noteable_type
    if ((type !== 'Issue' && type !== 'MergeRequest') || !note?.noteable_id) return
    const subject = { project_id: projectId, type, id: note.noteable_id, author_id }
    return await notifyPeople(ctx, { ...subject, event: 'new_note', note_id: noteId })
  }
  const happened = eventOf(targetType, event.action)
  if (happened === undefined) return
  const type = targetType === 'Issue' ? 'Issue' : 'MergeRequest'
  await notifyPeople(ctx, { project_id: projectId, type, id: targetId, author_id, event: happened })
}
