import { randomBytes } from 'node:crypto'
import { userOf } from '../../access/actor.ts'
import { runEffects } from '../../base/effects.ts'
import { badRequest, existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { carryText } from '../../markdown/carry-text.ts'
import { inTransaction } from '../../store/transaction.ts'
import type { NoteRow } from './entity.ts'
import type { Noteable, NoteScope, Position } from './noteable.ts'
import {
  countNotesOf,
  deleteNote,
  findNote,
  insertNote,
  listAllNotes,
  listNotesOfDiscussions,
  listUnresolved,
  resolveNotes,
  updateNote,
} from './queries.ts'
import { seenBy } from './visible-notes.ts'

/** Most notes on one thing (docs/contract/B-resolved §11.2). */
const MAX_NOTES = 5000
const MAX_BODY = 1_000_000

export function scopeOf(noteable: Noteable): NoteScope {
  return {
    type: noteable.type,
    id: noteable.id,
    commitId: noteable.commitId,
    projectId: noteable.project.id,
  }
}

function newDiscussionId(): string {
  return randomBytes(20).toString('hex')
}

export interface NoteInput {
  readonly body: string
  readonly internal?: boolean | undefined
  /** Access leaves it to administrators and project owners (docs/contract/B-resolved §11.1). */
  readonly createdAt?: string | undefined
  /** Begins a thread instead of a single comment. */
  readonly thread?: boolean | undefined
  /** Replies to this thread. */
  readonly discussionId?: string | undefined
  /** A checked place in a diff: makes the note a DiffNote. */
  readonly position?: Position | undefined
  readonly lineCode?: string | undefined
  /** The one commit of a merge request that it is about. */
  readonly commitId?: string | undefined
  /** Threads on this kind of thing can be resolved. */
  readonly resolvable?: boolean | undefined
}

function assertBody(body: string): void {
  if (body.trim() === '') throw badRequest('Note {:note=>["can\'t be blank"]}')
  if (body.length > MAX_BODY) {
    throw badRequest(`Note {:note=>["is too long (maximum is ${MAX_BODY} characters)"]}`)
  }
}

/** Adds a comment, a thread, or a reply; in one transaction with what `then` does with the row. */
export async function createNote(
  ctx: Ctx,
  noteable: Noteable,
  input: NoteInput,
  then: (ctx: Ctx, row: NoteRow) => Promise<void> = async () => {},
): Promise<NoteRow> {
  const author = callerId(ctx)
  assertBody(input.body)
  const scope = scopeOf(noteable)
  return inTransaction(ctx, async (ctx) => {
    if ((await countNotesOf(ctx.db, scope, MAX_NOTES)) >= MAX_NOTES) {
      throw badRequest(`Maximum number of comments exceeded`)
    }
    const place = await placeOf(ctx, noteable, input)
    const row = await insertNote(ctx.db, scope, {
      internal: input.internal ?? false,
      ...place,
      body: input.body,
      author_id: author,
      commit_id: input.commitId ?? scope.commitId,
      created_at: input.createdAt ?? ctx.now(),
    })
    await then(ctx, row)
    await runEffects(ctx, ctx.effects.noteSaved, { noteable, row, action: 'create' })
    return row
  })
}

/** Where a note goes: a thread of its own, or one that exists. */
function placeOf(ctx: Ctx, noteable: Noteable, input: NoteInput) {
  const resolvable = input.resolvable ?? false
  if (input.discussionId !== undefined) {
    return joinThread(ctx, noteable, input.discussionId, resolvable)
  }
  const type = input.position ? 'DiffNote' : input.thread ? 'DiscussionNote' : null
  const position = input.position
    ? { position: JSON.stringify(input.position), line_code: input.lineCode ?? null }
    : {}
  return {
    discussion_id: newDiscussionId(),
    type,
    resolvable: resolvable && type !== null,
    ...position,
  } as const
}

/**
 * A place in an existing thread, internal when the thread is. A single comment on an issue or merge request becomes a
 * thread first.
 */
async function joinThread(ctx: Ctx, noteable: Noteable, discussionId: string, resolvable: boolean) {
  const thread = await listNotesOfDiscussions(ctx.db, scopeOf(noteable), { internal: true }, [
    discussionId,
  ])
  const first = existing(thread[0], 'Discussion')
  const single = noteable.type === 'Snippet' || noteable.type === 'Commit'
  if (first.system === 1 || (first.type === null && single)) {
    throw badRequest('Discussion can not be replied to.')
  }
  if (first.type === null) {
    await updateNote(ctx.db, first.id, { type: 'DiscussionNote', resolvable }, first.updated_at)
  }
  const type = first.type ?? 'DiscussionNote'
  const { discussion_id, position, line_code } = first
  const internal = first.internal === 1
  return { discussion_id, type, resolvable, position, line_code, internal } as const
}

/**
 * Records a change as a system note, in the caller's transaction; `action` is the word of docs/contract/B-resolved §11.3. Nothing
 * is written for changes that the server makes by itself with nobody behind them.
 */
export async function addSystemNote(
  ctx: Ctx,
  noteable: Noteable,
  action: string,
  text: string,
): Promise<void> {
  await addSystemNoteAt(ctx, scopeOf(noteable), action, text)
}

/** The same where only the thing's name is known. */
export function addSystemNoteAt(
  ctx: Ctx,
  scope: NoteScope,
  action: string,
  text: string,
): Promise<NoteRow> {
  const user = userOf(ctx.actor)
  return insertNote(ctx.db, scope, {
    discussion_id: newDiscussionId(),
    type: null,
    body: text,
    author_id: user?.id ?? null,
    commit_id: scope.commitId,
    system: true,
    system_action: action,
    created_at: ctx.now(),
  })
}

export function changeNoteBody(
  ctx: Ctx,
  noteable: Noteable,
  row: NoteRow,
  body: string,
  then: (ctx: Ctx, row: NoteRow) => Promise<void> = async () => {},
): Promise<NoteRow> {
  assertBody(body)
  const changes = { body, updated_by_id: userOf(ctx.actor)?.id ?? null }
  return inTransaction(ctx, async (ctx) => {
    const changed = await updateNote(ctx.db, row.id, changes, ctx.now())
    await then(ctx, changed)
    await runEffects(ctx, ctx.effects.noteSaved, { noteable, row: changed, action: 'update' })
    return changed
  })
}

export function removeNote(ctx: Ctx, row: NoteRow): Promise<void> {
  return deleteNote(ctx.db, row.id)
}

/** Resolves or reopens a whole thread. */
export async function resolveDiscussion(
  ctx: Ctx,
  noteable: Noteable,
  thread: readonly NoteRow[],
  resolved: boolean,
): Promise<void> {
  const first = existing(thread[0], 'Discussion')
  const by = callerId(ctx)
  if (!thread.some((note) => note.resolvable === 1))
    throw badRequest('Discussion is not resolvable')
  await inTransaction(ctx, async (ctx) => {
    const mark = resolved ? { at: ctx.now(), by } : null
    const changed = await resolveNotes(ctx.db, first.discussion_id, mark)
    if (resolved && changed > 0) await noteAllResolved(ctx, noteable)
  })
}

/** The last open thread of a merge request says that it was the last (docs/contract/B-resolved §11.3 discussion). */
async function noteAllResolved(ctx: Ctx, noteable: Noteable): Promise<void> {
  if (noteable.type !== 'MergeRequest') return
  const left = await listUnresolved(ctx.db, scopeOf(noteable), { internal: true })
  if (left.length === 0) await addSystemNote(ctx, noteable, 'discussion', 'resolved all threads')
}

/** Resolves threads in the name of whoever did what they asked, in the caller's transaction. */
export async function closeThreads(ctx: Ctx, discussionIds: readonly string[]): Promise<void> {
  const by = callerId(ctx)
  for (const id of discussionIds) await resolveNotes(ctx.db, id, { at: ctx.now(), by })
}

/** The threads of a noteable that wait to be resolved, by their ids. */
export function openThreads(ctx: Ctx, noteable: Noteable): Promise<string[]> {
  return listUnresolved(ctx.db, scopeOf(noteable), seenBy(ctx, noteable))
}

/** Resolves or reopens one note of a thread. */
export async function resolveNote(
  ctx: Ctx,
  noteable: Noteable,
  row: NoteRow,
  resolved: boolean,
): Promise<NoteRow> {
  const by = callerId(ctx)
  if (row.resolvable === 0) throw badRequest('Note is not resolvable')
  const changes = resolved
    ? { resolved_at: ctx.now(), resolved_by_id: by }
    : { resolved_at: null, resolved_by_id: null }
  return inTransaction(ctx, async (ctx) => {
    const before = existing(await findNote(ctx.db, scopeOf(noteable), row.id, { internal: true }))
    const changed = await updateNote(ctx.db, row.id, changes, before.updated_at)
    if (resolved && before.resolved_at === null) await noteAllResolved(ctx, noteable)
    return changed
  })
}

/**
 * Copies the comments of one noteable to another, threads kept together, in the caller's transaction. Gives the id of each
 * copy by that of the comment.
 */
export async function copyNotes(
  ctx: Ctx,
  from: Noteable,
  to: Noteable,
): Promise<ReadonlyMap<number, number>> {
  const copies = new Map<number, number>()
  const threads = new Map<string, string>()
  const stays = from.project.id === to.project.id
  for (const note of await listAllNotes(ctx.db, scopeOf(from))) {
    const thread = threads.get(note.discussion_id) ?? newDiscussionId()
    threads.set(note.discussion_id, thread)
    const copy = await insertNote(ctx.db, scopeOf(to), {
      discussion_id: thread,
      type: note.type,
      body: stays ? note.body : await carryText(ctx, note.body, from.project),
      author_id: note.author_id,
      commit_id: note.commit_id,
      internal: note.internal === 1,
      resolvable: note.resolvable === 1,
      resolved_at: note.resolved_at,
      resolved_by_id: note.resolved_by_id,
      created_at: note.created_at,
    })
    copies.set(note.id, copy.id)
  }
  return copies
}
