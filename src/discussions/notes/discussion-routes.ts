import { z } from 'zod'
import { fieldsIgnoredUnless } from '../../access/conditions.ts'
import { existing } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, type Endpoint, endpoint, perMinuteAsSet } from '../../http/endpoint.ts'
import {
  exactlyOne,
  flag,
  hash,
  instant,
  integer,
  oneOf,
  parameter,
  text,
} from '../../http/params.ts'
import { changesNote, onNoteable, onNoteOfThread, onThread } from './access.ts'
import {
  commandsEntity,
  discussionEntity,
  noteEntity,
  presentCommands,
  presentNote,
} from './entity.ts'
import type { NoteKind } from './kind.ts'
import { addNote, editNote } from './note-routes.ts'
import type { Noteable } from './noteable.ts'
import { peopleOf, presentOne, presentThreads } from './present.ts'
import { listDiscussionIds, listNotesOfDiscussions } from './queries.ts'
import { removeNote, resolveDiscussion, resolveNote, scopeOf } from './verbs.ts'
import { seenBy } from './visible-notes.ts'

/** A position as requests give it; whether it fits a diff is for the kind of thing to say. */
export const positionParameter = hash({
  position_type: oneOf(['text', 'image', 'file']),
  base_sha: text({ max: 64 }).optional(),
  start_sha: text({ max: 64 }).optional(),
  head_sha: text({ max: 64 }).optional(),
  old_path: text().nullish(),
  new_path: text().nullish(),
  old_line: integer({ min: 1 }).nullish(),
  new_line: integer({ min: 1 }).nullish(),
  width: integer().nullish(),
  height: integer().nullish(),
  x: integer().nullish(),
  y: integer().nullish(),
  line_range: parameter({ type: 'object' }, (raw) => raw).nullish(),
})

type AskedByRequest = z.infer<typeof positionParameter>

/** Leaves out what was not said, so that checks need not distinguish null from absent. */
export function said(asked: AskedByRequest) {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(given)
}

async function presentThread(ctx: Ctx, noteable: Noteable, discussionId: string) {
  const rows = await listNotesOfDiscussions(ctx.db, scopeOf(noteable), seenBy(ctx, noteable), [
    discussionId,
  ])
  const [thread] = await presentThreads(ctx, noteable, [discussionId], rows)
  return existing(thread, 'Discussion')
}

/** The routes of threads below one kind of thing (docs/contract/B-resolved §11.1). */
export function discussionEndpoints(kind: NoteKind): Endpoint[] {
  const { resolveThread, ...others } = threadEndpointsOf(kind)
  return kind.resolvable ? [...Object.values(others), resolveThread] : Object.values(others)
}

/** The same by their names, for what calls them within the process. */
export function threadEndpointsOf(kind: NoteKind) {
  return { ...threadEndpoints(kind), ...threadNoteEndpoints(kind), ...resolveEndpoint(kind) }
}

function commonOf(kind: NoteKind) {
  return { tags: [kind.tag], discussions: `${kind.path}/discussions` }
}

const datedByOwners = fieldsIgnoredUnless('set_timestamps', ['created_at'])

function threadEndpoints(kind: NoteKind) {
  const { tags, discussions } = commonOf(kind)
  return {
    listThreads: endpoint({
      method: 'GET',
      path: discussions,
      summary: 'List threads',
      access: onNoteable(kind),
      tags,
      paginate: 'offset',
      response: z.array(discussionEntity),
      async handler({ ctx, noteable, page }) {
        const scope = scopeOf(noteable)
        const { ids, total } = await listDiscussionIds(ctx.db, scope, { internal: true }, page)
        const rows = await listNotesOfDiscussions(ctx.db, scope, seenBy(ctx, noteable), ids)
        const more = ids.length === page.perPage
        return { items: await presentThreads(ctx, noteable, ids, rows), total, more }
      },
    }),
    getThread: endpoint({
      method: 'GET',
      path: `${discussions}/:discussion_id`,
      summary: 'Get a thread',
      access: onThread(kind),
      tags,
      response: discussionEntity,
      handler: ({ ctx, noteable, discussionId }) => presentThread(ctx, noteable, discussionId),
    }),
    beginThread: endpoint({
      method: 'POST',
      path: discussions,
      summary: 'Begin a thread',
      access: onNoteable(kind, 'create_note'),
      conditions: [datedByOwners],
      tags,
      body: {
        body: text({ max: 1_000_000 }),
        created_at: instant().optional(),
        commit_id: text({ max: 64 }).optional(),
        position: positionParameter.optional(),
      },
      limit: perMinuteAsSet('notes_create_limit'),
      response: z.union([discussionEntity, commandsEntity]),
      async handler({ ctx, noteable, body, request: { signal } }) {
        const placed =
          body.position && kind.place
            ? await kind.place(ctx, noteable, said(body.position))
            : undefined
        const commitId = kind.assertCommit && body.commit_id
        if (commitId) await kind.assertCommit?.(ctx, noteable, commitId)
        const input = {
          body: body.body,
          createdAt: body.created_at,
          thread: true,
          commitId,
          ...placed,
        }
        const { row, done } = await addNote(ctx, kind, noteable, input, { signal })
        if (!row) return new Answer(presentCommands(done), { status: 202 })
        return presentThread(ctx, noteable, row.discussion_id)
      },
    }),
  }
}

function threadNoteEndpoints(kind: NoteKind) {
  const { tags, discussions } = commonOf(kind)
  const notes = `${discussions}/:discussion_id/notes`
  return {
    listThreadNotes: endpoint({
      method: 'GET',
      path: notes,
      summary: 'List the notes of a thread',
      access: onThread(kind, kind.ability, 'Notes'),
      tags,
      response: z.array(noteEntity),
      async handler({ ctx, noteable, thread }) {
        const people = await peopleOf(ctx, thread)
        return thread.map((row) => presentNote(row, noteable.iid, people))
      },
    }),
    replyToThread: endpoint({
      method: 'POST',
      path: notes,
      summary: 'Reply to a thread',
      access: onThread(kind, 'create_note'),
      conditions: [datedByOwners],
      tags,
      body: { body: text({ max: 1_000_000 }), created_at: instant().optional() },
      limit: perMinuteAsSet('notes_create_limit'),
      response: z.union([noteEntity, commandsEntity]),
      async handler({ ctx, noteable, discussionId, body, request: { signal } }) {
        const input = { body: body.body, createdAt: body.created_at, discussionId }
        const { row, done } = await addNote(ctx, kind, noteable, input, { signal })
        if (!row) return new Answer(presentCommands(done), { status: 202 })
        return presentOne(ctx, noteable, row, done?.changes)
      },
    }),
    getThreadNote: endpoint({
      method: 'GET',
      path: `${notes}/:note_id`,
      summary: 'Get a note of a thread',
      access: onNoteOfThread(kind),
      tags,
      response: noteEntity,
      handler: ({ ctx, noteable, note }) => presentOne(ctx, noteable, note),
    }),
    changeThreadNote: endpoint({
      method: 'PUT',
      path: `${notes}/:note_id`,
      summary: 'Change or resolve a note of a thread',
      access: onNoteOfThread(kind),
      conditions: changesNote,
      tags,
      body: { body: text({ max: 1_000_000 }).optional(), resolved: flag().optional() },
      check: exactlyOne(['body', 'resolved']),
      response: z.union([noteEntity, commandsEntity]),
      async handler({ ctx, noteable, note, body, request: { signal } }) {
        if (body.body !== undefined)
          return editNote(ctx, kind, noteable, note, body.body, { signal })
        const resolved = await resolveNote(ctx, noteable, note, body.resolved ?? false)
        return presentOne(ctx, noteable, resolved)
      },
    }),
    deleteThreadNote: endpoint({
      method: 'DELETE',
      path: `${notes}/:note_id`,
      summary: 'Delete a note of a thread',
      access: onNoteOfThread(kind, 'change_note'),
      tags,
      async handler({ ctx, note, request }) {
        assertUnmodifiedSince(request, note.updated_at)
        await removeNote(ctx, note)
      },
    }),
  }
}

function resolveEndpoint(kind: NoteKind) {
  const { tags, discussions } = commonOf(kind)
  return {
    resolveThread: endpoint({
      method: 'PUT',
      path: `${discussions}/:discussion_id`,
      summary: 'Resolve or reopen a thread',
      access: onThread(kind, 'resolve_discussion'),
      tags,
      body: { resolved: flag() },
      response: discussionEntity,
      async handler({ ctx, noteable, discussionId, thread, body }) {
        await resolveDiscussion(ctx, noteable, thread, body.resolved)
        return presentThread(ctx, noteable, discussionId)
      },
    }),
  }
}
