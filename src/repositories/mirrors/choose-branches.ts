import { RE2JS, RE2JSSyntaxException } from 're2js'
import type { Project } from '../../access/subjects.ts'
import { invalid } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { branchOf } from '../refs/moves.ts'
import { rulesFor } from '../refs/protection.ts'
import { listBranchRules } from '../refs/queries.ts'

/** Says which refs are mirrored: tags always are, of branches all, those that match, or those that are protected. */
export async function chooseRefs(
  ctx: Ctx,
  project: Project,
  chosen: { readonly onlyProtected: boolean; readonly regex: string | null },
): Promise<(ref: string) => boolean> {
  const regex = chosen.regex === null ? undefined : RE2JS.compile(chosen.regex)
  const rules = chosen.onlyProtected
    ? await listBranchRules(ctx.db, project.id, project.namespace_id)
    : undefined
  return (ref) => {
    const branch = branchOf(ref)
    if (branch === undefined) return true
    if (rules !== undefined && rulesFor(rules, branch).length === 0) return false
    return regex === undefined || regex.matcher(branch).find()
  }
}

/** 400 for a pattern of branches that is none. */
export function assertPattern(pattern: string | null | undefined): void {
  if (!pattern) return
  try {
    RE2JS.compile(pattern)
  } catch (error) {
    if (!(error instanceof RE2JSSyntaxException)) throw error
    const text = `is an invalid regular expression: ${error.message}`
    throw invalid({ mirror_branch_regex: [text] })
  }
}
