import type { OffsetPage, Paged } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import type { MemberView } from './entity.ts'
import { listMemberViews, type MemberFilters, type MemberScope } from './list-queries.ts'

/** A page of the members of a source, for the lists of other resources. */
export async function listMembersOf(
  ctx: Ctx,
  scope: MemberScope,
  filters: MemberFilters,
  page: OffsetPage,
): Promise<Paged<MemberView>> {
  return await listMemberViews(ctx.db, scope, filters, page)
}
