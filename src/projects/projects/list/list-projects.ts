import { viewerOf } from '../../../access/visible-queries.ts'
import type { Page, Paged } from '../../../base/page.ts'
import { badRequest } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import type { ProjectBasic, ProjectFull } from '../entity.ts'
import { presentProjects } from '../present.ts'
import type { Scope } from './filters.ts'
import type { ProjectFilters } from './params.ts'
import { listProjectRows } from './queries.ts'

/** A page of the projects of a scope, as the caller sees them. */
export async function listProjects(
  ctx: Ctx,
  scope: Scope,
  query: ProjectFilters,
  page: Page,
): Promise<Paged<ProjectFull | ProjectBasic>> {
  const byTime = query.updated_after !== undefined || query.updated_before !== undefined
  if (byTime && query.order_by !== undefined && query.order_by !== 'updated_at') {
    throw badRequest('`updated_at` filter and `updated_at` sorting must be paired')
  }
  const filters = byTime ? { ...query, order_by: 'updated_at' as const } : query
  const viewer = viewerOf(ctx)
  const { items, ...rest } = await listProjectRows(ctx.db, viewer, scope, filters, page)
  const shown = await presentProjects(ctx, items, {
    simple: query.simple,
    statistics: query.statistics,
    customAttributes: query.with_custom_attributes,
  })
  return { ...rest, items: shown }
}
