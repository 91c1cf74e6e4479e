import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { protectedTags } from '../image-protection/conditions.ts'
import { imageProblem } from './problem.ts'

/** Refuses to push or delete tags that a rule keeps from the caller. */
export async function assertMayMove(
  ctx: Ctx,
  { project }: { readonly project: Project },
  change: 'push' | 'delete',
  names: readonly string[],
): Promise<void> {
  const [first] = await protectedTags(ctx, project, change, names)
  if (first !== undefined) throw imageProblem('DENIED', 403, `the tag ${first} is protected`)
}
