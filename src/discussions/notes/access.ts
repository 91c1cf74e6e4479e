import type { ProjectAbility } from '../../access/abilities.ts'
import { userOf } from '../../access/actor.ts'
import { type Condition, condition, mayOr } from '../../access/conditions.ts'
import { type Conditions, mayInProject } from '../../access/decide.ts'
import { projectRecord } from '../../access/records.ts'
import { Role } from '../../access/roles.ts'
import { existing, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { id, text } from '../../http/params.ts'
import type { NoteRow } from './entity.ts'
import type { NoteKind } from './kind.ts'
import type { Noteable } from './noteable.ts'
import { findNote, listNotesOfDiscussions } from './queries.ts'
import { resolveDiscussion, scopeOf } from './verbs.ts'
import { seenBy } from './visible-notes.ts'

const signedIn = { signedIn: true } as const

/** What `create_note` asks of the thing: a locked discussion is for members only. */
export function noteableConditions(noteable: Noteable): Conditions {
  return { locked: noteable.locked && noteable.project.role === Role.none }
}

/** Who wrote a note, for `change_note` and `admin_note`. */
function noteConditions(ctx: Ctx, noteable: Noteable, note: NoteRow): Conditions {
  const isAuthor = note.author_id !== null && note.author_id === userOf(ctx.actor)?.id
  return {
    author: isAuthor && mayInProject(ctx.actor, noteable.project, 'create_note'),
    system: note.system === 1,
  }
}

/** Who may resolve: the author of the thing, or of the first note, stands in for Developers. */
function threadConditions(ctx: Ctx, noteable: Noteable, first: NoteRow): Conditions {
  const user = userOf(ctx.actor)
  const authors = [noteable.authorId, first.author_id]
  return { author: user !== null && authors.includes(user.id) }
}

/** The thing that notes hang on, for callers with the ability there. */
export function onNoteable(kind: NoteKind, ability: ProjectAbility = kind.ability) {
  return projectRecord(kind.ability, {
    params: kind.params,
    find: async ({ ctx, project, params }) => ({
      noteable: await kind.find(ctx, project, params),
    }),
    conditions: ({ noteable }) => noteableConditions(noteable),
  })(ability, signedIn)
}

/** A note of the thing, if the caller may see it. */
export function onNote(kind: NoteKind, ability: ProjectAbility = kind.ability) {
  return projectRecord(kind.ability, {
    params: { ...kind.params, note_id: id() },
    async find({ ctx, project, params }) {
      const noteable = await kind.find(ctx, project, params)
      return { noteable, note: await getNote(ctx, noteable, Number(params.note_id)) }
    },
    conditions: ({ ctx, noteable, note }) => noteConditions(ctx, noteable, note),
  })(ability, signedIn)
}

/** A thread of the thing; `what` is said to be missing where there is none. */
export function onThread(
  kind: NoteKind,
  ability: ProjectAbility = kind.ability,
  what: 'Discussion' | 'Notes' = 'Discussion',
) {
  return projectRecord(kind.ability, {
    params: { ...kind.params, discussion_id: text({ max: 100 }) },
    async find({ ctx, project, params }) {
      const noteable = await kind.find(ctx, project, params)
      const discussionId = String(params.discussion_id)
      const thread = await getThread(ctx, noteable, discussionId, what)
      return { noteable, discussionId, thread, first: thread[0] }
    },
    conditions: ({ ctx, noteable, first }) => ({
      ...noteableConditions(noteable),
      ...threadConditions(ctx, noteable, first),
    }),
  })(ability, signedIn)
}

/** A note of a thread of the thing. */
export function onNoteOfThread(kind: NoteKind, ability: ProjectAbility = kind.ability) {
  return projectRecord(kind.ability, {
    params: { ...kind.params, discussion_id: text({ max: 100 }), note_id: id() },
    async find({ ctx, project, params }) {
      const noteable = await kind.find(ctx, project, params)
      const note = await getNote(ctx, noteable, Number(params.note_id))
      if (note.discussion_id !== params.discussion_id) throw notFound('Note')
      return { noteable, note }
    },
    conditions: ({ ctx, noteable, note }) => noteConditions(ctx, noteable, note),
  })(ability, signedIn)
}

/** The note of this number, if the caller may see it, or 404. */
export async function getNote(ctx: Ctx, noteable: Noteable, noteId: number): Promise<NoteRow> {
  return existing(await findNote(ctx.db, scopeOf(noteable), noteId, seenBy(ctx, noteable)), 'Note')
}

/** Refuses to resolve a thread in passing (a published review, an issue that goes on with it) for who may not. */
function assertMayResolve(ctx: Ctx, noteable: Noteable, first: NoteRow): void {
  const conditions = threadConditions(ctx, noteable, first)
  const may = mayOr(
    ctx,
    mayInProject(ctx.actor, noteable.project, 'resolve_discussion', conditions),
  )
  if (may !== true) throw may
}

/** Refuses a reply that could not be published: 404 without its thread, 403 where it may not resolve it. */
export async function assertMayReply(
  ctx: Ctx,
  noteable: Noteable,
  discussionId: string,
  resolves: boolean,
): Promise<void> {
  const [first] = await getThread(ctx, noteable, discussionId)
  if (resolves) assertMayResolve(ctx, noteable, first)
}

/** Resolves a thread by its id, where the request is about something else. */
export async function resolveThread(
  ctx: Ctx,
  noteable: Noteable,
  discussionId: string,
): Promise<void> {
  const thread = await getThread(ctx, noteable, discussionId)
  assertMayResolve(ctx, noteable, thread[0])
  await resolveDiscussion(ctx, noteable, thread, true)
}

async function getThread(
  ctx: Ctx,
  noteable: Noteable,
  discussionId: string,
  what: 'Discussion' | 'Notes' = 'Discussion',
): Promise<readonly [NoteRow, ...NoteRow[]]> {
  const filter = seenBy(ctx, noteable)
  const scope = scopeOf(noteable)
  const [first, ...rest] = await listNotesOfDiscussions(ctx.db, scope, filter, [discussionId])
  if (!first) throw notFound(what)
  return [first, ...rest]
}

interface NoteChange {
  readonly ctx: Ctx
  readonly noteable: Noteable
  readonly note: NoteRow
  readonly body: { readonly body?: string | undefined; readonly resolved?: boolean | undefined }
}

/** Changing the text of a note takes more than resolving it (docs/contract/B-resolved §11.1). */
export const changesNote: readonly Condition<NoteChange>[] = [
  condition('body: change_note', ({ ctx, noteable, note, body }) => {
    if (body.body === undefined) return true
    const conditions = noteConditions(ctx, noteable, note)
    return mayOr(ctx, mayInProject(ctx.actor, noteable.project, 'change_note', conditions))
  }),
  condition('resolved: resolve_discussion', ({ ctx, noteable, note, body }) => {
    if (body.resolved === undefined) return true
    const conditions = threadConditions(ctx, noteable, note)
    return mayOr(ctx, mayInProject(ctx.actor, noteable.project, 'resolve_discussion', conditions))
  }),
]

interface NewNote {
  readonly ctx: Ctx
  readonly noteable: Noteable
  readonly body: {
    readonly internal?: boolean | undefined
    readonly confidential?: boolean | undefined
  }
}

/** Internal notes are written by those who may read them. */
export const writesInternalNote: Condition<NewNote> = condition(
  'internal: read_internal_notes',
  ({ ctx, noteable, body }) => {
    if (!(body.internal ?? body.confidential)) return true
    return mayOr(ctx, mayInProject(ctx.actor, noteable.project, 'read_internal_notes'))
  },
)
