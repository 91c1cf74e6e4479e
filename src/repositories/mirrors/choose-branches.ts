import { RE2JS } from 're2js'
import type { Project } from '../../access/subjects.ts'
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
