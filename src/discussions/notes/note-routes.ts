import { z } from 'zod'
import { fieldsIgnoredUnless } from '../../access/conditions.ts'
import { badRequest } from '../../base/problem.ts'
import { assertUnmodifiedSince } from '../../base/unmodified-since.ts'
import type { Ctx } from '../../ctx.ts'
import { Answer, type Endpoint, endpoint, perMinuteAsSet } from '../../http/endpoint.ts'
import { flag, instant, oneOf, text } from '../../http/params.ts'
import { onNote, onNoteable, writesInternalNote } from './access.ts'
import { commandsEntity, type NoteRow, noteEntity, presentCommands, presentNote } from './entity.ts'
import type { CommandOptions, CommandPlan, CommandResult, NoteKind } from './kind.ts'
import type { Noteable } from './noteable.ts'
import { peopleOf, presentOne } from './present.ts'
import { listNoteRows } from './queries.ts'
import { changeNoteBody, createNote, type NoteInput, removeNote, scopeOf } from './verbs.ts'
import { seenBy } from './visible-notes.ts'

async function planOf(
  ctx: Ctx,
  kind: NoteKind,
  noteable: Noteable,
  body: string,
  context: CommandOptions = {},
): Promise<CommandPlan | undefined> {
  if (!/^\/[a-z_]/im.test(body)) return undefined
  return await kind.readCommands?.(ctx, noteable, body, context)
}

/** Carries out commands that are all there is; 400 when none of them could be. */
async function runAlone(plan: CommandPlan): Promise<CommandResult> {
  const done = await plan.run()
  if (done.summary.length === 0) throw badRequest('Failed to apply commands.')
  return done
}

/**
 * Adds a note without its quick actions, then carries those out. Only commands: nothing is added, and undefined comes
 * back with what they did (202, docs/contract/D §1.11).
 */
export async function addNote(
  ctx: Ctx,
  kind: NoteKind,
  noteable: Noteable,
  input: NoteInput,
  context: CommandOptions = {},
) {
  const plan = await planOf(ctx, kind, noteable, input.body, context)
  const body = plan?.body ?? input.body
  if (plan && body.trim() === '') {
    return { row: undefined, done: await runAlone(plan) }
  }
  const row = await createNote(
    ctx,
    noteable,
    { ...input, body, resolvable: kind.resolvable },
    (ctx, row) => kind.afterNote?.(ctx, noteable, row) ?? Promise.resolve(),
  )
  await kind.afterSaved?.(ctx, noteable, row)
  return { row, done: await plan?.run() }
}

/** Changes the text of a note; quick actions work as in a new one, and a note of nothing else goes. */
export async function editNote(
  ctx: Ctx,
  kind: NoteKind,
  noteable: Noteable,
  row: NoteRow,
  body: string,
  context: CommandOptions = {},
) {
  const plan = await planOf(ctx, kind, noteable, body, context)
  if (plan && plan.body.trim() === '') {
    const done = await runAlone(plan)
    await removeNote(ctx, row)
    return new Answer(presentCommands(done), { status: 202 })
  }
  const changed = await changeNoteBody(
    ctx,
    noteable,
    row,
    plan?.body ?? body,
    (ctx, row) => kind.afterEdit?.(ctx, noteable, row) ?? Promise.resolve(),
  )
  await kind.afterSaved?.(ctx, noteable, changed)
  const done = await plan?.run()
  return await presentOne(ctx, noteable, changed, done?.changes)
}

/** The routes of plain notes below one kind of thing (docs/contract/B-resolved §11.2). */
export function noteEndpoints(kind: NoteKind): Endpoint[] {
  const notes = `${kind.path}/notes`
  const one = `${notes}/:note_id`
  const tags = [kind.tag]
  const byJobs = kind.jobToken ? ({ jobToken: true } as const) : {}
  const reading = { method: 'GET', tags, ...byJobs } as const
  const fields = {
    internal: flag().optional(),
    confidential: flag().optional(),
    created_at: instant().optional(),
  }
  return [
    endpoint({
      ...reading,
      path: notes,
      access: onNoteable(kind),
      summary: 'List notes',
      query: {
        order_by: oneOf(['created_at', 'updated_at']).optional(),
        sort: oneOf(['asc', 'desc']).optional(),
        activity_filter: oneOf(['all_notes', 'only_comments', 'only_activity']).optional(),
      },
      paginate: 'offset',
      response: z.array(noteEntity),
      async handler({ ctx, noteable, query, page }) {
        const filter = {
          ...seenBy(ctx, noteable),
          activity: query.activity_filter,
          orderBy: query.order_by ?? 'created_at',
          sort: query.sort ?? 'desc',
        } as const
        const rows = await listNoteRows(ctx.db, scopeOf(noteable), filter, page)
        const people = await peopleOf(ctx, rows.items)
        return {
          ...rows,
          items: rows.items.map((row) => presentNote(row, noteable.iid, people)),
        }
      },
    }),
    endpoint({
      ...reading,
      path: one,
      access: onNote(kind),
      summary: 'Get a note',
      response: noteEntity,
      handler: ({ ctx, noteable, note }) => presentOne(ctx, noteable, note),
    }),
    endpoint({
      method: 'POST',
      path: notes,
      tags,
      access: onNoteable(kind, 'create_note'),
      conditions: [writesInternalNote, fieldsIgnoredUnless('set_timestamps', ['created_at'])],
      summary: 'Add a note',
      body: {
        ...fields,
        body: text({ max: 1_000_000 }),
        merge_request_diff_head_sha: text().optional(),
      },
      limit: perMinuteAsSet('notes_create_limit'),
      response: z.union([noteEntity, commandsEntity]),
      async handler({ ctx, noteable, body, request: { signal } }) {
        const internal = body.internal ?? body.confidential
        const input = { body: body.body, internal, createdAt: body.created_at }
        const context = { headSha: body.merge_request_diff_head_sha, signal }
        const { row, done } = await addNote(ctx, kind, noteable, input, context)
        if (row) return presentOne(ctx, noteable, row, done?.changes)
        return new Answer(presentCommands(done), { status: 202 })
      },
    }),
    endpoint({
      method: 'PUT',
      path: one,
      tags,
      access: onNote(kind, 'change_note'),
      summary: 'Change the text of a note',
      body: { body: text({ max: 1_000_000 }).optional(), confidential: flag().optional() },
      response: z.union([noteEntity, commandsEntity]),
      handler: ({ ctx, noteable, note, body, request: { signal } }) =>
        body.body === undefined
          ? presentOne(ctx, noteable, note)
          : editNote(ctx, kind, noteable, note, body.body, { signal }),
    }),
    endpoint({
      method: 'DELETE',
      path: one,
      tags,
      access: onNote(kind, 'change_note'),
      summary: 'Delete a note',
      async handler({ ctx, note, request }) {
        assertUnmodifiedSince(request, note.updated_at)
        await removeNote(ctx, note)
      },
    }),
  ]
}
