import type { Ctx } from '../../ctx.ts'
import { usersById } from '../../identity/users/find-basic.ts'
import { type NotePeople, type NoteRow, presentNote } from './entity.ts'
import type { Noteable } from './noteable.ts'
import { suggestionsByNote } from './suggestions.ts'

/** The people of some notes, read at once. */
export async function peopleOf(ctx: Ctx, rows: readonly NoteRow[]): Promise<NotePeople> {
  const ids = rows.flatMap((row) => [row.author_id, row.resolved_by_id])
  const placed = rows.filter((row) => row.type === 'DiffNote')
  const [users, suggestions] = await Promise.all([
    usersById(ctx, ids),
    suggestionsByNote(
      ctx,
      placed.map((row) => row.id),
    ),
  ])
  return { users, suggestions }
}

export async function presentOne(
  ctx: Ctx,
  noteable: Noteable,
  row: NoteRow,
  commandsChanges: Readonly<Record<string, unknown>> = {},
) {
  return presentNote(row, noteable.iid, await peopleOf(ctx, [row]), commandsChanges)
}

/** Threads in the given order of their ids, each with its notes, oldest first; a single plain note is a thread of its own. */
export async function presentThreads(
  ctx: Ctx,
  noteable: Noteable,
  ids: readonly string[],
  rows: readonly NoteRow[],
) {
  const people = await peopleOf(ctx, rows)
  return ids.flatMap((id) => {
    const own = rows.filter((row) => row.discussion_id === id)
    const notes = own.map((row) => presentNote(row, noteable.iid, people))
    return own.length === 0 ? [] : [{ id, individual_note: own[0]?.type === null, notes }]
  })
}
