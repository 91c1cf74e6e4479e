import { viewerOf } from '../../access/visible-queries.ts'
import type { OffsetPage } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import type { SearchPlace } from '../../store/search.ts'
import { presentNote } from './entity.ts'
import { peopleOf } from './present.ts'
import { searchNoteRows } from './search-queries.ts'

/** A page of comments that contain a text, on what the caller sees, newest first. */
export async function searchNotes(ctx: Ctx, place: SearchPlace, search: string, page: OffsetPage) {
  const viewer = viewerOf(ctx)
  const { items, ...rest } = await searchNoteRows(ctx.db, viewer, place, search, page)
  const people = await peopleOf(ctx, items)
  return {
    ...rest,
    items: items.map(({ noteable_iid, ...row }) => presentNote(row, noteable_iid, people)),
  }
}
