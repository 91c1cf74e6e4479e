import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { addSystemNote } from '../../discussions/notes/verbs.ts'
import { inTransaction } from '../../store/transaction.ts'
import { getRow } from './create-issue.ts'
import { asNoteable } from './find.ts'
import { type IssueRow, updateIssue } from './queries.ts'

/** Changes how severe an incident is, with a note. */
export async function changeSeverity(
  ctx: Ctx,
  project: Project,
  found: IssueRow,
  severity: string,
): Promise<IssueRow> {
  return await inTransaction(ctx, async (ctx) => {
    const row = await getRow(ctx, found.id)
    if (severity === row.severity) return row
    await updateIssue(ctx.db, row.id, { severity, updated_at: ctx.now() })
    const text = `changed the severity to **${severity.charAt(0)}${severity.slice(1).toLowerCase()}**`
    await addSystemNote(ctx, asNoteable(ctx, project, row), 'severity', text)
    return await getRow(ctx, row.id)
  })
}
