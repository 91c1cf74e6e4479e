import { RE2JS } from 're2js'
import { isAdmin } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { listTagRules } from './queries.ts'

/** Which of these tags the rules of the project keep from the caller; a deploy token passes none that matches. */
export async function protectedTags(
  ctx: Pick<Ctx, 'db' | 'actor'>,
  project: Pick<Project, 'id' | 'role'>,
  change: 'push' | 'delete',
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  if (isAdmin(ctx.actor)) return new Set()
  const role = ctx.actor.kind === 'deploy_token' ? 0 : project.role
  const rules = await listTagRules(ctx.db, project.id)
  const level = `minimum_access_level_for_${change}` as const
  const patterns = rules
    .filter((rule) => role < rule[level])
    .map((rule) => RE2JS.compile(rule.tag_name_pattern)) // one that does not compile was refused when it was saved
  return new Set(names.filter((name) => patterns.some((one) => one.matcher(name).find())))
}

/** Which of these tags any rule names: what the server deletes by itself leaves them alone. */
export function ruledTags(
  ctx: Pick<Ctx, 'db'>,
  projectId: number,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const nobody = { db: ctx.db, actor: { kind: 'anonymous' } } as const
  return protectedTags(nobody, { id: projectId, role: 0 }, 'delete', names)
}
