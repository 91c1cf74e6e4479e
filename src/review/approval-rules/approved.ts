import type { Ctx } from '../../ctx.ts'
import { listProjectRules, listRequestRules } from './queries.ts'
import { type ApprovalSubject, approvalStanding } from './standing.ts'

/**
 * Whether merge requests have the approvals that they need, by id. Only those with a rule that asks for anything are
 * looked at closely, and only while they are open.
 */
export async function approvedById(
  ctx: Ctx,
  subjects: readonly (ApprovalSubject & { readonly state: string })[],
): Promise<ReadonlyMap<number, boolean>> {
  const open = subjects.filter((subject) => subject.state === 'opened')
  const [general, own] = await Promise.all([
    listProjectRules(ctx.db, [...new Set(open.map((subject) => subject.target_project_id))]),
    listRequestRules(
      ctx.db,
      open.map((subject) => subject.id),
    ),
  ])
  const asking = [...general, ...own].filter((rule) => rule.approvals_required > 0)
  const projects = new Set(asking.map((rule) => rule.project_id))
  const requests = new Set(asking.map((rule) => rule.merge_request_id))
  const found = new Map(subjects.map((subject) => [subject.id, true]))
  for (const subject of open) {
    if (!projects.has(subject.target_project_id) && !requests.has(subject.id)) continue
    found.set(subject.id, (await approvalStanding(ctx, subject)).approved)
  }
  return found
}
