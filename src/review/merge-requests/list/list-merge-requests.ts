import { viewerOf } from '../../../access/visible-queries.ts'
import type { OffsetPage } from '../../../base/page.ts'
import type { Ctx } from '../../../ctx.ts'
import { recheckIfDue } from '../jobs.ts'
import { presentBrief, presentMergeRequests } from '../present.ts'
import type { ListFilters } from './params.ts'
import { type ListPlace, listMergeRequests } from './queries.ts'

/** A page of merge requests that the caller sees, for the wire. */
export async function listVisibleMergeRequests(
  ctx: Ctx,
  place: ListPlace & { readonly path?: string | null },
  query: ListFilters,
  page: OffsetPage,
) {
  const viewer = viewerOf(ctx)
  const found = await listMergeRequests(ctx.db, place, viewer, query, page)
  if (query.view === 'simple') {
    return { ...found, items: found.items.map((row) => presentBrief(ctx, row)) }
  }
  const rows = query.with_merge_status_recheck
    ? await Promise.all(found.items.map((row) => recheckIfDue(ctx, row)))
    : found.items
  const wanted = {
    labelDetails: query.with_labels_details,
    html: query.render_html,
    group: place.path,
  }
  return { ...found, items: await presentMergeRequests(ctx, rows, wanted) }
}
