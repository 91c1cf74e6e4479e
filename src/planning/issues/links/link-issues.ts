import type { Project } from '../../../access/subjects.ts'
import { conflict, notFound } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { addNoteAbout } from '../../../discussions/references/note-mention.ts'
import { inTransaction } from '../../../store/transaction.ts'
import { uniquely } from '../../../store/unique.ts'
import { asNoteable } from '../find.ts'
import { deleteIssueLink, type IssueRow, insertIssueLink, listIssueLinks } from '../queries.ts'

export const linkTypes = ['relates_to', 'blocks', 'is_blocked_by'] as const
export type LinkType = (typeof linkTypes)[number]

const words: Readonly<Record<LinkType, string>> = {
  relates_to: 'marked this issue as related to',
  blocks: 'marked this issue as blocking',
  is_blocked_by: 'marked this issue as blocked by',
}

/** Links an issue with another, as it reads from the first; 409 when they are linked already. */
export async function linkIssues(
  ctx: Ctx,
  project: Project,
  row: IssueRow,
  other: IssueRow,
  type: LinkType,
) {
  if (other.id === row.id) throw notFound()
  const turned = type === 'is_blocked_by'
  const now = ctx.now()
  const values = {
    source_id: turned ? other.id : row.id,
    target_id: turned ? row.id : other.id,
    link_type: type === 'relates_to' ? 'relates_to' : 'blocks',
    created_at: now,
    updated_at: now,
  } as const
  const taken = () => conflict('Issue(s) already assigned')
  return inTransaction(ctx, async (ctx) => {
    const known = (await listIssueLinks(ctx.db, row.id)).some(
      (link) => link.source_id === other.id || link.target_id === other.id,
    )
    if (known) throw taken()
    const unique = { 'issue_links.source_id, issue_links.target_id': taken }
    const made = await uniquely(unique, () => insertIssueLink(ctx.db, values))
    await noteAt(ctx, project, row, other, 'relate', words[type])
    return made
  })
}

/** Takes a link away again; 404 when somebody did so a moment ago. */
export async function unlinkIssues(
  ctx: Ctx,
  project: Project,
  row: IssueRow,
  other: IssueRow,
  linkId: number,
): Promise<void> {
  await inTransaction(ctx, async (ctx) => {
    await deleteIssueLink(ctx.db, linkId)
    await noteAt(ctx, project, row, other, 'unrelate', 'removed the relation with')
  })
}

async function noteAt(
  ctx: Ctx,
  project: Project,
  row: IssueRow,
  other: IssueRow,
  action: 'relate' | 'unrelate',
  words: string,
): Promise<void> {
  const about = {
    type: 'Issue',
    id: other.id,
    commitId: null,
    project: { id: other.project_id, full_path: other.project_path },
  } as const
  const text = `${words} ${other.project_path}#${other.iid}`
  await addNoteAbout(ctx, asNoteable(ctx, project, row), action, text, about)
}
