import type { Project } from '../../../access/subjects.ts'
import { prepareEffects } from '../../../base/effects.ts'
import type { Ctx } from '../../../ctx.ts'
import { completeTodos } from '../../../discussions/todos/add.ts'
import type { MergeRequestAction } from '../../effects.ts'
import { todoTarget } from '../record.ts'
import type { MergeRequestRow } from '../row.ts'

/** Does what `change` does to a merge request, in the caller's transaction, with what follows from it. */
export async function editMergeRequest(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  action: MergeRequestAction,
  change: (ctx: Ctx) => Promise<void>,
): Promise<void> {
  const follow = await prepareEffects(ctx, ctx.effects.mergeRequestEdited, { project, row })
  await change(ctx)
  await completeTodos(ctx, todoTarget(row))
  await follow(ctx, action)
}
