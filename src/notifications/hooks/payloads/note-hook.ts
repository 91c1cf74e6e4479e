import { z } from 'zod'
import { actAs } from '../../../access/act-as.ts'
import { userOf } from '../../../access/actor.ts'
import type { Project } from '../../../access/subjects.ts'
import { findProjectWithRole } from '../../../access/subjects.ts'
import { task } from '../../../background/task.ts'
import type { Ctx } from '../../../ctx.ts'
import type { SavedNote } from '../../../discussions/effects.ts'
import type { NoteRow } from '../../../discussions/notes/entity.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { because, cause, causeOf, fireHooks, type HookPayload, wantsHooks } from '../fire.ts'
import { findHookNote, findNewestNote, isOnConfidential } from './note-queries.ts'
import { type HookSubject, readHookSubject } from './note-subject.ts'
import { hookActor, hookProject, hookRepository } from './payload-parts.ts'

type NoteEvent = 'note' | 'confidential_note'

const hookJob = {
  name: 'notes.hooks',
  payload: z.object({
    id: z.int(),
    user_id: z.int().nullable(),
    event: z.enum(['note', 'confidential_note']),
    action: z.string(),
    ...cause,
  }),
}

/** Enqueues the notification of hooks of a comment that was made or changed; its commit takes git, so a task makes the payload. */
export async function enqueueNoteHooks(
  ctx: Ctx,
  { noteable, row, action }: SavedNote,
): Promise<void> {
  const hidden = row.internal === 1 || (await isOnConfidential(ctx.db, noteable))
  const event = hidden ? 'confidential_note' : 'note'
  if (!(await wantsHooks(ctx, noteable.project, event))) return
  const user_id = userOf(ctx.actor)?.id ?? null
  await ctx.work.enqueue(ctx.db, hookJob, {
    id: row.id,
    user_id,
    event,
    action,
    ...causeOf(ctx),
  })
}

/** Notifies hooks of a comment (docs/contract/D §1.25 Note Hook). */
export const notifyOfNote = task({
  ...hookJob,
  async handler(given: Ctx, { id, user_id, event, action, ...chain }) {
    const ctx = because(await actAs(given, user_id), chain)
    const row = await findHookNote(ctx.db, id)
    const project = row && (await findProjectWithRole(ctx, row.project_id ?? 0))
    const payload = project && (await notePayload(ctx, project, row, { event, action }))
    if (!payload) return
    await inTransaction(ctx, (ctx) => fireHooks(ctx, project, event, () => payload))
  },
})

/** A comment with what it was made on; undefined when that is gone. */
async function notePayload(
  ctx: Ctx,
  project: Project,
  row: NoteRow,
  { event, action }: { readonly event: NoteEvent; readonly action: string },
): Promise<HookPayload | undefined> {
  const subject = await readHookSubject(ctx, project, row)
  if (!subject) return undefined
  return {
    object_kind: 'note',
    event_type: event,
    user: await hookActor(ctx),
    project_id: project.id,
    project: hookProject(ctx, project),
    object_attributes: { ...noteAttributes(subject, row), action },
    repository: hookRepository(ctx, project),
    [subject.key]: subject.shown,
  }
}

/** A comment as payloads show it. */
export function noteAttributes(subject: HookSubject, row: NoteRow): HookPayload {
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
    line_code: row.line_code,
    position: parsed(row.position),
    original_position: parsed(row.original_position),
    resolved_at: row.resolved_at,
    resolved_by_id: row.resolved_by_id,
    updated_by_id: row.updated_by_id,
    created_at: row.created_at,
    updated_at: row.updated_at,
    url: `${subject.shown.url}#note_${row.id}`,
  }
}

function parsed(position: string | null): unknown {
  return position === null ? null : JSON.parse(position)
}

/** The newest comment as a payload, for trying a hook out. */
export async function newestNotePayload(
  ctx: Ctx,
  project: Project,
  confidential: boolean,
): Promise<HookPayload | undefined> {
  const row = await findNewestNote(ctx.db, project.id, confidential)
  const event = confidential ? 'confidential_note' : 'note'
  return row && (await notePayload(ctx, project, row, { event, action: 'create' }))
}
