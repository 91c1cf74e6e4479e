import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { closeIssueVia } from '../../planning/issues/change-issue.ts'
import { getIssue } from '../../planning/issues/find.ts'
import { findIssueById } from '../../planning/issues/queries.ts'
import { inTransaction } from '../../store/transaction.ts'
import { type ErrorRow, updateError } from './queries.ts'
import { type ErrorStatus, errorStatuses, RESOLVED } from './words.ts'

export interface ErrorChanges {
  readonly status?: ErrorStatus | undefined
  /** The issue in which people work on it; null is none. */
  readonly issue_iid?: number | null | undefined
}

/** Resolves, ignores or reopens an error, and links it to an issue that the caller sees; with the error its issue is resolved. */
export async function changeError(
  ctx: Ctx,
  project: Project,
  row: ErrorRow,
  changes: ErrorChanges,
): Promise<ErrorRow> {
  const { status, issue_iid: iid } = changes
  const issue = iid ? (await getIssue(ctx, project, iid)).id : iid === undefined ? undefined : null
  const values = {
    ...(status === undefined ? {} : { status: errorStatuses.indexOf(status) }),
    ...(issue === undefined ? {} : { issue_id: issue }),
  }
  if (Object.keys(values).length === 0) return row
  return await inTransaction(ctx, async (ctx) => {
    const moment = status === 'resolved' ? { resolved_at: ctx.now() } : {}
    const changed = await updateError(ctx.db, row.id, { ...values, ...moment })
    const isResolved = changed.status === RESOLVED && row.status !== RESOLVED
    if (isResolved) await closeIssueOf(ctx, project, changed)
    return changed
  })
}

async function closeIssueOf(ctx: Ctx, project: Project, error: ErrorRow): Promise<void> {
  const issue = error.issue_id === null ? undefined : await findIssueById(ctx.db, error.issue_id)
  if (issue) await closeIssueVia(ctx, project, issue, ' because the error was resolved')
}
