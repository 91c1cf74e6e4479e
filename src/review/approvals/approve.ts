import { type ActorUser, userOf } from '../../access/actor.ts'
import { verifyPassword } from '../../access/authentication/password.ts'
import type { Project } from '../../access/subjects.ts'
import { runEffects } from '../../base/effects.ts'
import { notFound, unauthorized } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { completeTodos } from '../../discussions/todos/add.ts'
import { callerId } from '../../identity/users/find-user.ts'
import { inTransaction } from '../../store/transaction.ts'
import { removeApprovals, saveApproval } from '../approval-rules/save-approval.ts'
import { approvalStanding, barredFrom, type Standing } from '../approval-rules/standing.ts'
import type { AskedApproval } from '../effects.ts'
import { noteLostApprovals, noteReview } from '../merge-requests/change/reviewers.ts'
import { reload } from '../merge-requests/find.ts'
import { autoMergeJob } from '../merge-requests/jobs.ts'
import { assertHead } from '../merge-requests/merge/merge.ts'
import { findLatestVersion } from '../merge-requests/queries.ts'
import { feedChange, noteChange, todoTarget } from '../merge-requests/record.ts'
import type { MergeRequestRow } from '../merge-requests/row.ts'
import { findPasswordHash } from './password-queries.ts'

export interface ApproveInput {
  readonly sha?: string | undefined
  readonly password?: string | undefined
}

/** Whether a user could approve now: eligible in general or by a rule, not barred, and not done yet. */
export function mayApprove(row: MergeRequestRow, standing: Standing, userId: number): boolean {
  if (row.state !== 'opened') return false
  if (standing.approvals.some((approval) => approval.user_id === userId)) return false
  if (barredFrom(row, standing.settings, standing.committers).has(userId)) return false
  return standing.developers.has(userId) || standing.rules.some((rule) => rule.eligible.has(userId))
}

/**
 * Adds the caller's approval: 409 when the head is another one, 401 for whoever may not, has done so, or does not prove
 * again who they are where the project asks for that (docs/contract/B-resolved §8.3).
 */
export async function approve(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  input: ApproveInput,
): Promise<void> {
  const user = userOf(ctx.actor)
  if (!user) throw unauthorized()
  assertHead(row.head_sha, input.sha)
  const { settings } = await assertMayApprove(ctx, row, user.id)
  if (settings.require_reauthentication_to_approve.value) {
    await assertPassword(ctx, user, input.password)
  }
  const version = await findLatestVersion(ctx.db, row.id)
  await inTransaction(ctx, async (ctx) => {
    // Nobody approves what was pushed after they looked.
    const now = await reload(ctx, row.id)
    assertHead(now.head_sha, row.head_sha ?? undefined)
    await assertMayApprove(ctx, now, user.id)
    const added = await saveApproval(ctx, {
      merge_request_id: row.id,
      user_id: user.id,
      head_sha: row.head_sha,
      patch_id: version?.patch_id ?? null,
      created_at: ctx.now(),
    })
    if (!added) throw unauthorized()
    await noteChange(ctx, project, row, 'approved', 'approved this merge request')
    await feedChange(ctx, row, 'approved')
    const { approved } = await approvalStanding(ctx, row)
    const action = approved ? 'approved' : 'approval'
    await runEffects(ctx, ctx.effects.mergeRequestChanged, { project, id: row.id, action })
    await noteReview(ctx, row.id, user.id, 'approved')
    await completeTodos(ctx, todoTarget(row))
    if (row.auto_merge_sha) await ctx.work.enqueue(ctx.db, autoMergeJob, { id: row.id })
  })
}

async function assertMayApprove(ctx: Ctx, row: MergeRequestRow, userId: number): Promise<Standing> {
  const standing = await approvalStanding(ctx, row)
  if (!mayApprove(row, standing, userId)) throw unauthorized()
  return standing
}

async function assertPassword(
  ctx: Ctx,
  user: ActorUser,
  password: string | undefined,
): Promise<void> {
  if (password === undefined) throw unauthorized()
  const hash = await findPasswordHash(ctx.db, user.id)
  const isRight = () => verifyPassword(password, hash)
  const guess = {
    ip: ctx.ip,
    account: user.username,
    userId: user.id,
    log: ctx.log,
    now: () => ctx.now(),
  }
  if (!(await ctx.guesses.compare(guess, isRight))) throw unauthorized()
}

/** Takes the caller's approval back; 404 when there is none, or the merge has made it part of the record. */
export async function unapprove(ctx: Ctx, project: Project, row: MergeRequestRow): Promise<void> {
  const userId = callerId(ctx)
  await inTransaction(ctx, async (ctx) => {
    const { state } = await reload(ctx, row.id)
    if (state === 'merged') throw notFound()
    const before = await approvalStanding(ctx, row)
    if ((await removeApprovals(ctx, row.id, [userId])) === 0) throw notFound()
    await noteChange(ctx, project, row, 'unapproved', 'unapproved this merge request')
    await noteReview(ctx, row.id, userId, 'unapproved')
    const action = before.approved ? 'unapproved' : 'unapproval'
    await runEffects(ctx, ctx.effects.mergeRequestChanged, { project, id: row.id, action })
  })
}

/** Takes all approvals back, for bots only (docs/contract/B §Merge request approvals). */
export async function resetAllApprovals(ctx: Ctx, row: MergeRequestRow): Promise<void> {
  const user = userOf(ctx.actor)
  const isBot = user?.kind === 'project_bot' || user?.kind === 'group_bot'
  if (!isBot || row.state === 'merged') throw unauthorized()
  await inTransaction(ctx, async (ctx) => {
    await removeApprovals(ctx, row.id)
    await noteLostApprovals(ctx, row.id)
  })
}

/** The same as asked by a quick action, of a merge request as it is now. */
export async function approveByCommand(
  ctx: Ctx,
  { project, row, approves }: AskedApproval,
): Promise<void> {
  if (approves) await approve(ctx, project, await reload(ctx, row.id), {})
  else await unapprove(ctx, project, row)
}
