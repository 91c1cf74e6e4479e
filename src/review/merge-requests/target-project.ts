import { findProjectById } from '../../access/find-queries.ts'
import { type Project, withProjectRole } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { MergeRequestRow } from './row.ts'

/** The project that a merge request goes into, with the role of whoever acts; undefined when it is gone. */
export async function targetProject(
  ctx: Ctx,
  row: Pick<MergeRequestRow, 'target_project_id'>,
): Promise<Project | undefined> {
  const found = await findProjectById(ctx.db, row.target_project_id)
  return found && withProjectRole(ctx, found)
}
