import { findVisibleProject, type Project } from '../../access/subjects.ts'
import { Problem } from '../../base/problem.ts'
import type { Ctx, Effect } from '../../ctx.ts'
import { findClosedIssues } from '../../markdown/find-references.ts'
import type { ReadPush } from '../../repositories/effects.ts'
import { mayCloseIssues } from './access.ts'
import { closeIssueVia } from './change-issue.ts'
import { getIssue } from './find.ts'

/** Most issues that one push closes. */
const mostIssues = 100

/** Closes the issues that commits on the default branch close. */
export async function closeByPush(
  _ctx: Ctx,
  { project, news }: ReadPush,
): Promise<Effect<undefined>> {
  const landed = news.filter((one) => one.kind === 'branch' && one.name === project.default_branch)
  return async (ctx) => {
    for (const one of landed) await closeByMessages(ctx, project, one.commits)
  }
}

/**
 * Closes the issues that commits on the default branch name with a closing word (docs/contract/D §1.9), as far as the caller may,
 * in the caller's transaction. Projects may switch it off with `autoclose_referenced_issues`.
 */
async function closeByMessages(
  ctx: Ctx,
  project: Project,
  commits: readonly { readonly id: string; readonly message: string }[],
): Promise<void> {
  if (project.settings.autoclose_referenced_issues === false) return
  let left = mostIssues
  for (const commit of [...commits].reverse()) {
    for (const named of findClosedIssues(commit.message, ctx.config.externalUrl)) {
      if (left-- <= 0) return
      await closeNamed(ctx, project, named, commit.id)
    }
  }
}

async function closeNamed(
  ctx: Ctx,
  project: Project,
  named: { readonly project: string | null; readonly iid: number },
  sha: string,
): Promise<void> {
  const own = named.project === null || named.project === project.full_path
  const place = own ? project : await findVisibleProject(ctx, named.project ?? '')
  if (!place || !mayCloseIssues(ctx, place)) return
  const issue = await getIssue(ctx, place, named.iid).catch((error: unknown) => {
    // An issue that the pusher may not see, or that there is not, stays as it is.
    if (error instanceof Problem) return undefined
    throw error
  })
  if (!issue) return
  const reference = own ? sha : `${project.full_path}@${sha}`
  const cause = { type: 'Commit', id: null, commitId: sha, project } as const
  await closeIssueVia(ctx, place, issue, ` via commit ${reference}`, cause)
}
