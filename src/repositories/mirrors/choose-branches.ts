import type { Project } from '../../access/subjects.ts'
import { PatternBudget } from '../../base/patterns/budget.ts'
import { PatternLimitError } from '../../base/patterns/pattern.ts'
import { invalidText } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { branchOf } from '../refs/moves.ts'
import { rulesFor } from '../refs/protection.ts'
import { listBranchRules } from '../refs/queries.ts'

/** Milliseconds: a mirror may have very many branches, and nobody waits for it. */
const LONGEST_MS = 10_000

/** Which of some refs are mirrored: tags always are, of branches all, those that match, or those that are protected. */
export async function chooseRefs(
  ctx: Ctx,
  project: Project,
  chosen: { readonly onlyProtected: boolean; readonly regex: string | null },
  refs: readonly string[],
): Promise<ReadonlySet<string>> {
  const rules = chosen.onlyProtected
    ? await listBranchRules(ctx.db, project.id, project.namespace_id)
    : undefined
  const tags = refs.filter((ref) => branchOf(ref) === undefined)
  const branches = refs.flatMap((ref) => {
    const name = branchOf(ref)
    return name === undefined ? [] : [{ ref, name }]
  })
  const possible = branches.filter(
    ({ name }) => rules === undefined || rulesFor(rules, name).length > 0,
  )
  const fits = await fitting(
    chosen.regex,
    possible.map(({ name }) => name),
    project.id,
  )
  return new Set([...tags, ...possible.filter((_, at) => fits[at]).map(({ ref }) => ref)])
}

async function fitting(
  regex: string | null,
  names: readonly string[],
  projectId: number,
): Promise<readonly boolean[]> {
  if (regex === null) return names.map(() => true)
  const patterns = new PatternBudget({ caller: `project ${projectId}`, timeoutMs: LONGEST_MS })
  try {
    return await patterns.testEach([{ source: regex }], names)
  } catch (error) {
    if (!(error instanceof PatternLimitError)) throw error
    throw invalidText(`The pattern for branches ${error.message}`)
  }
}
