import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { keptTags } from '../image-protection/conditions.ts'
import { imageProblem } from './problem.ts'

/** Refuses to push or delete tags that a rule keeps from the caller. Their names are only looked at where there is a rule. */
export async function assertMayMove(
  ctx: Ctx,
  { project }: { readonly project: Project },
  change: 'push' | 'delete',
  names: Iterable<readonly string[]> | AsyncIterable<readonly string[]>,
): Promise<void> {
  const keptAmong = await keptTags(ctx, project, change)
  if (!keptAmong) return
  for await (const some of names) {
    const [first] = await keptAmong(some)
    if (first !== undefined) throw imageProblem('DENIED', 403, `the tag ${first} is protected`)
  }
}
