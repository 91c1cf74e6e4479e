import type { Ctx } from '../../../ctx.ts'
import { type ConflictedFile, readConflicts } from '../../../git/merge/conflicts.ts'
import type { ObjectId } from '../../../git/types.ts'
import { branchHead, bringHead } from '../branch-heads.ts'
import type { MergeRequestRow } from '../row.ts'

export interface FoundConflicts {
  /** The tips of both branches; absent where one is gone, or the merge request is not open. */
  readonly sides?: { readonly source: ObjectId; readonly target: ObjectId }
  readonly files: readonly ConflictedFile[]
  readonly overflow: boolean
}

/** What conflicts between the branches of an open merge request as they are now. */
export async function conflictsOf(
  ctx: Ctx,
  row: MergeRequestRow,
  signal: AbortSignal,
): Promise<FoundConflicts> {
  const nothing = { files: [], overflow: false }
  if (row.state !== 'opened') return nothing
  const source = await bringHead(ctx, row)
  const target = await branchHead(ctx, row.target_project_id, row.target_branch)
  if (source === undefined || target === undefined) return nothing
  const repo = ctx.git.open(row.target_project_id)
  const { files, overflow } = await readConflicts(repo, { ours: source, theirs: target }, signal)
  return { sides: { source, target }, files, overflow }
}
