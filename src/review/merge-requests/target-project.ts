import { findProjectWithRole, type Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { MergeRequestRow } from './row.ts'

/** The project that a merge request goes into, with the role of whoever acts; undefined when it is gone. */
export function targetProject(
  ctx: Ctx,
  row: Pick<MergeRequestRow, 'target_project_id'>,
): Promise<Project | undefined> {
  return findProjectWithRole(ctx, row.target_project_id)
}

/** The same of the project that it comes from. */
export function sourceProject(
  ctx: Ctx,
  row: Pick<MergeRequestRow, 'source_project_id'>,
): Promise<Project | undefined> {
  return findProjectWithRole(ctx, row.source_project_id)
}
