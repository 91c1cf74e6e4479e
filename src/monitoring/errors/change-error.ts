import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { getIssue } from '../../planning/issues/find.ts'
import { type ErrorRow, updateError } from './queries.ts'
import { type ErrorStatus, errorStatuses } from './words.ts'

export interface ErrorChanges {
  readonly status?: ErrorStatus | undefined
  /** The issue in which people work on it; null is none. */
  readonly issue_iid?: number | null | undefined
}

/** Resolves, ignores or reopens an error, and links it to an issue that the caller sees. */
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
  return Object.keys(values).length === 0 ? row : await updateError(ctx.db, row.id, values)
}
