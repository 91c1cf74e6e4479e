import { findProjectByPath } from '../../access/find-queries.ts'
import { withProjectRole } from '../../access/subjects.ts'
import { badRequest } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { hideProject } from '../../projects/projects/removal/remove-project.ts'
import { mayReplace } from './access.ts'

/** Takes away the project that the import replaces; whoever imports must be allowed to delete it. */
export async function makeRoom(ctx: Ctx, fullPath: string): Promise<void> {
  const row = await findProjectByPath(ctx.db, fullPath)
  if (!row) return
  const project = await withProjectRole(ctx, row)
  if (!mayReplace(ctx, project)) {
    throw badRequest('Project namespace path can be in use by another project')
  }
  await hideProject(ctx, project.id)
}
