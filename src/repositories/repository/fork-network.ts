import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { findForkRoot } from './fork-network-queries.ts'

/** Whether two projects are forks of one another, or of a common one. */
export async function areRelated(
  ctx: Pick<Ctx, 'db'>,
  one: Pick<Project, 'id'>,
  other: Pick<Project, 'id'>,
): Promise<boolean> {
  if (one.id === other.id) return true
  const [root, otherRoot] = await Promise.all([
    findForkRoot(ctx.db, one.id),
    findForkRoot(ctx.db, other.id),
  ])
  return root === otherRoot
}
