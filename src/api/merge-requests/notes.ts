import type { Ctx } from '../../ctx.ts'
import { recordEvent } from '../events/record.ts'
import type { NoteRow } from '../notes/entity.ts'
import type { NoteKind } from '../notes/kind.ts'
import type { Noteable } from '../notes/noteable.ts'
import { followText } from '../references/follow-text.ts'
import { settleTodos } from '../todos/add.ts'
import { placeNote } from './diff-position.ts'
import { getMergeRequest, noteableOf } from './find.ts'
import { params, path } from './path.ts'
import { touchMergeRequest } from './queries.ts'

/** Merge requests as something that notes hang on. */
export const noteKind: NoteKind = {
  path,
  params,
  tag: 'notes',
  ability: 'read_merge_requests',
  plainNotes: true,
  resolvable: true,
  async find(ctx, project, given) {
    const row = await getMergeRequest(ctx, project, Number(given.merge_request_iid))
    return noteableOf(ctx, project, row)
  },
  place: placeNote,
  afterNote,
  afterEdit: (ctx, noteable, row) => followText(ctx, noteable, row.body, row),
}

/** What follows from a comment on a merge request, in the same transaction. */
export async function afterNote(ctx: Ctx, noteable: Noteable, row: NoteRow): Promise<void> {
  if (noteable.id === null) return
  await touchMergeRequest(ctx.db, noteable.id, ctx.now())
  await recordEvent(ctx, {
    projectId: noteable.project.id,
    action: 'commented on',
    targetType: 'Note',
    targetId: row.id,
    targetIid: noteable.iid ?? undefined,
    targetTitle: noteable.title,
    noteId: row.id,
  })
  const target = {
    type: 'MergeRequest',
    id: noteable.id,
    projectId: noteable.project.id,
  } as const
  await settleTodos(ctx, target)
  await followText(ctx, noteable, row.body, row)
}
