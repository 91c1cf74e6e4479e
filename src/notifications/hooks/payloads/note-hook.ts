import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import type { SavedNote } from '../../../discussions/effects.ts'
import type { NoteRow } from '../../../discussions/notes/entity.ts'
import type { Noteable } from '../../../discussions/notes/noteable.ts'
import { fireHooks, type HookPayload } from '../fire.ts'
import { findNewestNote, findNoteableRow } from './note-queries.ts'
import { hookActor, hookProject, hookRepository } from './payload-parts.ts'

const keys = {
  Issue: 'issue',
  MergeRequest: 'merge_request',
  Snippet: 'snippet',
  Commit: 'commit',
  Alert: 'alert',
} as const

/** Notifies the hooks of a comment that was made or changed, in the caller's transaction (docs/contract/D §1.25). */
export async function fireNoteHooks(ctx: Ctx, { noteable, row, action }: SavedNote): Promise<void> {
  const thing = await findNoteableRow(ctx.db, noteable)
  const event = row.internal === 1 || thing?.confidential === 1 ? 'confidential_note' : 'note'
  await fireHooks(ctx, noteable.project, event, async () => ({
    ...(await notePayload(ctx, noteable, row, thing)),
    event_type: event,
    object_attributes: { ...noteAttributes(noteable, row), action },
  }))
}

/** A comment with what it was made on. */
async function notePayload(
  ctx: Ctx,
  noteable: Noteable,
  row: NoteRow,
  given?: Record<string, unknown>,
): Promise<HookPayload> {
  const thing = given ?? (await findNoteableRow(ctx.db, noteable))
  return {
    object_kind: 'note',
    event_type: 'note',
    user: await hookActor(ctx),
    project_id: noteable.project.id,
    project: hookProject(ctx, noteable.project),
    object_attributes: noteAttributes(noteable, row),
    repository: hookRepository(ctx, noteable.project),
    [keys[noteable.type]]: subjectOf(noteable, thing),
  }
}

/** What the payload of a reaction shows of the thing, and of the note on it. */
export async function reactedPayload(
  ctx: Ctx,
  noteable: Noteable,
  row: NoteRow | null,
): Promise<HookPayload> {
  const thing = await findNoteableRow(ctx.db, noteable)
  return {
    ...(row ? { note: noteAttributes(noteable, row) } : {}),
    [keys[noteable.type]]: subjectOf(noteable, thing),
  }
}

function subjectOf(noteable: Noteable, thing: Record<string, unknown> | undefined) {
  if (noteable.type === 'Commit') {
    return { id: noteable.commitId, title: noteable.title, url: noteable.webUrl }
  }
  const head = thing?.head_sha
  return {
    ...(thing ?? { id: noteable.id, title: noteable.title }),
    ...(thing && 'confidential' in thing ? { confidential: thing.confidential === 1 } : {}),
    ...(thing && 'draft' in thing
      ? { draft: thing.draft === 1, work_in_progress: thing.draft === 1 }
      : {}),
    ...(typeof head === 'string' ? { last_commit: { id: head } } : {}),
    url: noteable.webUrl,
  }
}

function noteAttributes(noteable: Noteable, row: NoteRow) {
  return {
    id: row.id,
    note: row.body,
    description: row.body,
    noteable_type: row.noteable_type,
    noteable_id: row.noteable_id,
    commit_id: row.commit_id,
    discussion_id: row.discussion_id,
    type: row.type,
    author_id: row.author_id,
    project_id: row.project_id,
    system: row.system === 1,
    internal: row.internal === 1,
    line_code: null,
    position: row.position === null ? null : (JSON.parse(row.position) as unknown),
    created_at: row.created_at,
    updated_at: row.updated_at,
    url: `${noteable.webUrl}#note_${row.id}`,
  }
}

/** The newest comment as a payload, for trying a hook out. */
export async function newestNotePayload(
  ctx: Ctx,
  project: Project,
): Promise<HookPayload | undefined> {
  const row = await findNewestNote(ctx.db, project.id)
  if (!row) return undefined
  const thing = await findNoteableRow(ctx.db, { type: row.noteable_type, id: row.noteable_id })
  const noteable: Noteable = {
    type: row.noteable_type,
    id: row.noteable_id,
    commitId: row.commit_id,
    iid: null,
    project,
    authorId: null,
    locked: false,
    title: typeof thing?.title === 'string' ? thing.title : '',
    webUrl: `${ctx.config.externalUrl}/${project.full_path}`,
  }
  return await notePayload(ctx, noteable, row, thing)
}
