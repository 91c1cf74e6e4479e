import { RE2JS } from 're2js'
import { isAdmin } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { listTagRules } from './queries.ts'

/** Tells of a tag whether it is meant. */
export type IsMeant = (name: string) => boolean

/**
 * Which tags the rules of the project keep from the caller; a deploy token passes none that matches. Undefined where they
 * keep none, whatever it is called.
 */
export async function keptTags(
  ctx: Pick<Ctx, 'db' | 'actor'>,
  project: Pick<Project, 'id' | 'role'>,
  change: 'push' | 'delete',
): Promise<IsMeant | undefined> {
  if (isAdmin(ctx.actor)) return undefined
  const role = ctx.actor.kind === 'deploy_token' ? 0 : project.role
  const rules = await listTagRules(ctx.db, project.id)
  const level = `minimum_access_level_for_${change}` as const
  const patterns = rules
    .filter((rule) => role < rule[level])
    .map((rule) => RE2JS.compile(rule.tag_name_pattern)) // one that does not compile was refused when it was saved
  if (patterns.length === 0) return undefined
  return (name) => patterns.some((one) => one.matcher(name).find())
}

/** Which tags any rule names: what the server deletes by itself leaves them alone. */
export function ruledTags(ctx: Pick<Ctx, 'db'>, projectId: number): Promise<IsMeant | undefined> {
  const nobody = { db: ctx.db, actor: { kind: 'anonymous' } } as const
  return keptTags(nobody, { id: projectId, role: 0 }, 'delete')
}
