import { viewerOf } from '../../../access/visible-queries.ts'
import type { Page } from '../../../base/page.ts'
import type { Ctx } from '../../../ctx.ts'
import { presentIssues } from '../present.ts'
import type { IssueListQuery } from './params.ts'
import { type IssueScope, listIssueRows } from './queries.ts'

/** A page of the issues of a scope that the caller sees, for the wire. */
export async function listVisibleIssues(
  ctx: Ctx,
  scope: IssueScope,
  query: IssueListQuery,
  page: Page,
  relativeTo?: string,
) {
  const viewer = viewerOf(ctx)
  const { items, ...rest } = await listIssueRows(ctx.db, viewer, scope, query, page)
  const shape = { labelDetails: query.with_labels_details, relativeTo }
  return { ...rest, items: await presentIssues(ctx, items, shape) }
}
