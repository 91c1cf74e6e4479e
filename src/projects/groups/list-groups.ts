import type { GroupRow } from '../../access/find-queries.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { Page, Paged } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { avatarUrl } from '../../identity/users/basic.ts'
import type { GroupEntity, GroupPlace } from './entity.ts'
import { type GroupScope, listGroupRows } from './list-queries.ts'
import type { GroupFilters } from './params.ts'
import { presentGroups } from './present.ts'

/** A page of the groups of a scope, as the caller sees them. */
export async function listGroups(
  ctx: Ctx,
  scope: GroupScope,
  query: GroupFilters,
  page: Page,
): Promise<Paged<GroupEntity>> {
  const viewer = viewerOf(ctx)
  const { items, ...rest } = await listGroupRows(ctx.db, viewer, scope, query, page)
  const wanted = { statistics: query.statistics, customAttributes: query.with_custom_attributes }
  return { ...rest, items: await presentGroups(ctx, items, wanted) }
}

/** As `listGroups`, with only what identifies the groups. */
export async function listGroupPlaces(
  ctx: Ctx,
  scope: GroupScope,
  filters: GroupFilters,
  page: Page,
): Promise<Paged<GroupPlace>> {
  const viewer = viewerOf(ctx)
  const { items, ...rest } = await listGroupRows(ctx.db, viewer, scope, filters, page)
  return { ...rest, items: items.map((row) => presentGroupPlace(ctx, row)) }
}

function presentGroupPlace(ctx: Ctx, row: GroupRow): GroupPlace {
  return {
    id: row.id,
    web_url: `${ctx.config.externalUrl}/groups/${row.full_path}`,
    name: row.name,
    avatar_url: avatarUrl(ctx, 'group', row.id, row),
    full_name: row.full_name,
    full_path: row.full_path,
  }
}
