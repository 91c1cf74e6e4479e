import type { Source } from '../../access/sources.ts'
import { viewerOf } from '../../access/visible-queries.ts'
import type { OffsetPage, Paged } from '../../base/page.ts'
import { existing } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { type Member, type MemberView, presentMember } from './entity.ts'
import {
  findMemberView,
  listMemberViews,
  type MemberFilters,
  type MemberScope,
} from './list-queries.ts'

/** What a list of members is read for: the source, with inherited and invited ones or not, and the viewer. */
function memberScope(ctx: Ctx, source: Source, all: boolean): MemberScope {
  return { source, all, viewer: viewerOf(ctx), inside: source.role > 0 }
}

/** A page of the members of a source that the caller sees. */
export function listMembers(
  ctx: Ctx,
  source: Source,
  filters: MemberFilters & { readonly all: boolean },
  page: OffsetPage,
): Promise<Paged<MemberView>> {
  return listMemberViews(ctx.db, memberScope(ctx, source, filters.all), filters, page)
}

/** One member of a source as answers show it, or 404. */
export async function readMember(
  ctx: Ctx,
  source: Source,
  userId: number,
  { all }: { readonly all: boolean } = { all: false },
): Promise<Member> {
  const row = existing(await findMemberView(ctx.db, memberScope(ctx, source, all), userId))
  return presentMember(ctx, row)
}
