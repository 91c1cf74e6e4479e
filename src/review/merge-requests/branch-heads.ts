import type { Ctx } from '../../ctx.ts'
import { findRef } from '../../git/refs/refs.ts'
import { fetchObjects } from '../../git/transfer/fetch-objects.ts'
import type { ObjectId } from '../../git/types.ts'
import { shareFetchedObjects } from '../../repositories/lfs/objects.ts'
import { placeOwnRef } from '../../repositories/refs/own-refs.ts'
import { findTip } from '../../repositories/repository/branch-tip.ts'
import type { MergeRequestRow } from './row.ts'

/** The commit at the tip of a branch, or undefined when there is no such branch. */
export async function branchHead(
  ctx: Ctx,
  projectId: number,
  branch: string,
): Promise<ObjectId | undefined> {
  return (await ctx.git.exists(projectId))
    ? await findTip(ctx.git.open(projectId), branch)
    : undefined
}

type Sided = Pick<
  MergeRequestRow,
  'iid' | 'source_project_id' | 'source_branch' | 'target_project_id' | 'target_branch'
>

export function headRef(row: Pick<MergeRequestRow, 'iid'>): string {
  return `refs/merge-requests/${row.iid}/head`
}

export function trialRef(row: Pick<MergeRequestRow, 'iid'>): string {
  return `refs/merge-requests/${row.iid}/merge`
}

/**
 * Brings the source branch's tip into the target's repository, where `refs/merge-requests/:iid/head` keeps it (docs/contract/D
 * §3.5). Undefined when the branch or its project is gone.
 */
export async function bringHead(ctx: Ctx, row: Sided): Promise<ObjectId | undefined> {
  const { source_project_id: sourceId, target_project_id: targetId } = row
  if (sourceId === null) return undefined
  const head = await branchHead(ctx, sourceId, row.source_branch)
  if (head === undefined) return undefined
  const target = ctx.git.open(targetId)
  if (sourceId !== targetId) {
    const kept = await findRef(target, headRef(row))
    if (kept?.id === head) return head
    await fetchObjects(target, ctx.git.open(sourceId), `refs/heads/${row.source_branch}`)
    await shareFetchedObjects(ctx, sourceId, targetId, head)
  }
  await placeOwnRef(target, headRef(row), head)
  return head
}
