import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { addNoteAbout } from '../../../discussions/references/note-mention.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { closeIssueFor } from '../change-issue.ts'
import { asNoteable } from '../find.ts'
import { type IssueRow, listIssueLinks } from '../queries.ts'
import { linkIssues } from './link-issues.ts'

/** Closes an issue in favour of another that says the same (docs/contract/B-resolved §11.3 duplicate). */
export async function markDuplicate(
  ctx: Ctx,
  project: Project,
  row: IssueRow,
  canonical: { readonly project: Project; readonly row: IssueRow },
): Promise<void> {
  const { project: place, row: other } = canonical
  const links = await listIssueLinks(ctx.db, row.id)
  const linked = links.some((link) => link.source_id === other.id || link.target_id === other.id)
  await inTransaction(ctx, async (ctx) => {
    if (!linked) await linkIssues(ctx, project, row, other, 'relates_to')
    await closeIssueFor(ctx, project, row, { duplicated_to_id: other.id })
    const from = `${row.project_path}#${row.iid}`
    const to = `${other.project_path}#${other.iid}`
    const own = asNoteable(ctx, project, row)
    const its = asNoteable(ctx, place, other)
    const word = 'duplicate'
    await addNoteAbout(ctx, own, word, `marked this issue as a duplicate of ${to}`, its)
    await addNoteAbout(ctx, its, word, `marked ${from} as a duplicate of this issue`, own)
  })
}
