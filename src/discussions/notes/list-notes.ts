import type { OffsetPage, Paged } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import type { NoteRow } from './entity.ts'
import type { Noteable } from './noteable.ts'
import { listNoteRows } from './queries.ts'
import { scopeOf } from './verbs.ts'

/** A page of what people wrote about something, oldest first, without system notes and internal ones. */
export async function listComments(
  ctx: Pick<Ctx, 'db'>,
  noteable: Noteable,
  page: OffsetPage,
): Promise<Paged<NoteRow>> {
  const filter = {
    internal: false,
    activity: 'only_comments',
    orderBy: 'created_at',
    sort: 'asc',
  } as const
  return await listNoteRows(ctx.db, scopeOf(noteable), filter, page)
}
