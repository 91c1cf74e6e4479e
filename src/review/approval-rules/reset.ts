import type { Ctx } from '../../ctx.ts'
import type { ObjectId } from '../../git/types.ts'
import type { OwnedFiles } from './code-owners.ts'
import { deleteApprovals, listApprovals } from './queries.ts'
import { type ApprovalSubject, approvalStanding } from './standing.ts'

/** What a push changed, as far as approvals ask. */
export interface PushedChange {
  readonly head: ObjectId
  readonly patchBefore: string | null
  readonly patchAfter: string | null
  /** The owners' entries of the files that the push itself touched. */
  readonly touched: readonly OwnedFiles[]
}

/**
 * Applies the project's rule on pushes to the approvals of earlier heads, in the caller's transaction: all go, or those of
 * the owners of touched files; none when the change as a whole is the same (a plain rebase; docs/contract/B-resolved §8.3).
 */
export async function resetApprovals(
  ctx: Ctx,
  subject: ApprovalSubject,
  change: PushedChange,
): Promise<void> {
  const approvals = await listApprovals(ctx.db, [subject.id])
  const earlier = approvals.filter((one) => one.head_sha !== change.head).map((one) => one.user_id)
  if (earlier.length === 0) return
  if (change.patchAfter !== null && change.patchBefore === change.patchAfter) return
  const { settings, rules } = await approvalStanding(ctx, subject)
  if (settings.reset_approvals_on_push.value) {
    await deleteApprovals(ctx.db, subject.id, earlier)
    return
  }
  if (!settings.selective_code_owner_removals.value) return
  const touched = new Set(
    change.touched.map(({ section, entry }) => key(section.name, entry.pattern)),
  )
  const owners = rules
    .filter(({ rule }) => rule.rule_type === 'code_owner')
    .filter(({ rule }) => touched.has(key(rule.section ?? '', rule.name)))
    .flatMap((rule) => rule.approvedBy)
    .filter((id) => earlier.includes(id))
  if (owners.length > 0) await deleteApprovals(ctx.db, subject.id, owners)
}

function key(section: string, pattern: string): string {
  return JSON.stringify([section.toLowerCase(), pattern])
}
