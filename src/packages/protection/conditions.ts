import { isAdmin } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { matchesPattern, normalName } from '../../base/name-pattern.ts'
import { forbidden, Problem } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { PackageType } from '../../store/schema/packages.ts'
import { listRulesOfType, type RuleRow } from './queries.ts'

interface Named {
  readonly package_type: PackageType
  readonly name: string
}

/**
 * Refuses to publish what a rule protects from the caller (docs/contract/C-resolved §5). Call it in the transaction that
 * publishes: a rule that is there by then counts.
 */
export async function assertMayPush(
  ctx: Pick<Ctx, 'db' | 'actor'>,
  project: Project,
  type: PackageType,
  name: string,
): Promise<void> {
  const isRefused = await isProtected(
    ctx,
    project,
    { package_type: type, name },
    'minimum_access_level_for_push',
  )
  if (isRefused) throw new Problem('forbidden', 403, { message: 'Package protected.' })
}

/** Refuses to delete what a rule protects from the caller; call it in the transaction that deletes. */
export async function assertMayDelete(
  ctx: Pick<Ctx, 'db' | 'actor'>,
  project: Project,
  row: Named,
): Promise<void> {
  if (await isProtected(ctx, project, row, 'minimum_access_level_for_delete')) {
    throw forbidden('Package is deletion protected.')
  }
}

/** Any rule that matches protects; a deploy token has no level, so none lets it pass. */
async function isProtected(
  ctx: Pick<Ctx, 'db' | 'actor'>,
  project: Project,
  { package_type: type, name }: Named,
  level: 'minimum_access_level_for_push' | 'minimum_access_level_for_delete',
): Promise<boolean> {
  if (isAdmin(ctx.actor)) return false
  const rules = await listRulesOfType(ctx.db, project.id, type)
  const role = ctx.actor.kind === 'deploy_token' ? 0 : project.role
  return rules.some((rule: RuleRow) => {
    const least = rule[level]
    if (least === null || role >= least) return false
    return isMeant(type, rule.package_name_pattern, name)
  })
}

/** What is one package to its clients is one to a rule, by whichever of its names. */
function isMeant(type: PackageType, pattern: string, name: string): boolean {
  const small = pattern.toLowerCase()
  const names = type === 'conan' ? conanNames(name) : [name]
  if (names.some((one) => matchesPattern(small, one.toLowerCase()))) return true
  return type === 'pypi' && matchesPattern(normalName(pattern), normalName(name))
}

/** A recipe whole (`hello/0.1@_/_`), as clients print it (`hello/0.1`), and by its name alone, of all its versions. */
function conanNames(recipe: string): string[] {
  return [recipe, recipe.replace(/(@_)?\/_$/, ''), recipe.split('/', 1)[0] ?? '']
}
