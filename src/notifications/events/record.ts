import { userOf } from '../../access/actor.ts'
import type { Ctx } from '../../ctx.ts'
import { eventOf, tellPeople } from '../notifications/happening.ts'
import { findNoteSubject, insertEvent } from './queries.ts'

/** What a push did to one ref, as the feed shows it (spec D §1.28). */
export interface PushData {
  readonly commit_count: number
  readonly action: 'created' | 'removed' | 'pushed'
  readonly ref_type: 'branch' | 'tag'
  readonly commit_from: string | null
  readonly commit_to: string | null
  readonly ref: string
  readonly commit_title: string | null
  readonly ref_count: number | null
}

export interface RecordedEvent {
  readonly projectId: number | null
  /** The word of the feed: `opened`, `closed`, `commented on`, `pushed to` … */
  readonly action: string
  readonly targetType?: string | undefined
  readonly targetId?: number | undefined
  readonly targetIid?: number | undefined
  readonly targetTitle?: string | undefined
  readonly pushData?: PushData | undefined
  readonly noteId?: number | undefined
  /** Who did it, when it is not the caller. */
  readonly authorId?: number | undefined
}

/** Adds to the feed of project and author, in the caller's transaction; what nobody did is not recorded. */
export async function recordEvent(ctx: Ctx, event: RecordedEvent): Promise<void> {
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
  await tellOf(ctx, event, authorId)
}

/** Whoever wants a mail about what happened to an issue or merge request gets one. */
async function tellOf(ctx: Ctx, event: RecordedEvent, author_id: number): Promise<void> {
  const { projectId, targetType, targetId, noteId } = event
  if (projectId === null || targetId === undefined) return
  if (noteId !== undefined) {
    const on = await findNoteSubject(ctx.db, noteId)
    if (!on) return
    const subject = { project_id: projectId, type: on.type, id: on.id, author_id }
    return await tellPeople(ctx, { ...subject, event: 'new_note', note_id: noteId })
  }
  const happened = eventOf(targetType, event.action)
  if (happened === undefined) return
  const type = targetType === 'Issue' ? 'Issue' : 'MergeRequest'
  await tellPeople(ctx, { project_id: projectId, type, id: targetId, author_id, event: happened })
}
