import { isAdmin } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { PatternBudget } from '../../base/patterns/budget.ts'
import type { Ctx } from '../../ctx.ts'
import { listTagRules } from './queries.ts'

/** Gives those of some tags that are kept. */
export type KeptAmong = (names: readonly string[]) => Promise<readonly string[]>

/** Milliseconds in workers: a repository may have very many tags. */
const LONGEST_MS = 10_000

/**
 * Which tags the rules of the project keep from the caller; a deploy token passes none that matches. Undefined where they
 * keep none, whatever it is called.
 */
export async function keptTags(
  ctx: Pick<Ctx, 'db' | 'actor'>,
  project: Pick<Project, 'id' | 'role'>,
  change: 'push' | 'delete',
): Promise<KeptAmong | undefined> {
  if (isAdmin(ctx.actor)) return undefined
  const role = ctx.actor.kind === 'deploy_token' ? 0 : project.role
  const rules = await listTagRules(ctx.db, project.id)
  const level = `minimum_access_level_for_${change}` as const
  const patterns = rules
    .filter((rule) => role < rule[level])
    .map((rule) => ({ source: rule.tag_name_pattern }))
  if (patterns.length === 0) return undefined
  const budget = new PatternBudget({ caller: `project ${project.id}`, timeoutMs: LONGEST_MS })
  return async (names) => {
    const kept = await budget.testEach(patterns, names)
    return names.filter((_, at) => kept[at])
  }
}

/** Which tags any rule names: what the server deletes by itself leaves them alone. */
export function ruledTags(ctx: Pick<Ctx, 'db'>, projectId: number): Promise<KeptAmong | undefined> {
  const nobody = { db: ctx.db, actor: { kind: 'anonymous' } } as const
  return keptTags(nobody, { id: projectId, role: 0 }, 'delete')
}
