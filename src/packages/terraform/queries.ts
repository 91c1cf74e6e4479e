import type { Ctx } from '../../ctx.ts'
import type { Db } from '../../store/schema.ts'
import { belowGroup, readsPackagesOf } from '../registry/readable.ts'

/** The top-level namespace of a path. */
export function findRootNamespace(db: Db, path: string) {
  return db
    .selectFrom('namespaces')
    .select(['id', 'kind'])
    .where('full_path', '=', path)
    .where('parent_id', 'is', null)
    .executeTakeFirst()
}

/** The newest versions of a module below a namespace that the caller may read, the oldest upload of them first. */
export async function listModuleVersions(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  namespaceId: number,
  nameKey: string,
) {
  const rows = await ctx.db
    .selectFrom('packages')
    .innerJoin('projects', 'projects.id', 'packages.project_id')
    .select(['packages.id', 'packages.project_id', 'packages.version', 'projects.full_path'])
    .where('packages.package_type', '=', 'terraform_module')
    .where('packages.name_key', '=', nameKey)
    .where('packages.status', 'in', ['default', 'deprecated'])
    .where('projects.namespace_id', 'in', belowGroup(namespaceId))
    .where(readsPackagesOf(ctx))
    .orderBy('packages.id', 'desc')
    .limit(1000)
    .execute()
  return rows.reverse()
}

export type ModuleVersion = Awaited<ReturnType<typeof listModuleVersions>>[number]

/** Whether another project below the same top-level namespace has a module of this name. */
export async function isModuleElsewhere(
  db: Db,
  project: { readonly id: number; readonly namespace_id: number },
  nameKey: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('packages')
    .innerJoin('projects', 'projects.id', 'packages.project_id')
    .select('packages.id')
    .where('packages.package_type', '=', 'terraform_module')
    .where('packages.name_key', '=', nameKey)
    .where('packages.status', '<>', 'pending_destruction')
    .where('packages.project_id', '<>', project.id)
    .where('projects.namespace_id', 'in', (is) =>
      is
        .selectFrom('namespace_ancestors as below')
        .innerJoin('namespace_ancestors as above', 'above.ancestor_id', 'below.ancestor_id')
        .innerJoin('namespaces as root', 'root.id', 'below.ancestor_id')
        .select('below.namespace_id')
        .where('above.namespace_id', '=', project.namespace_id)
        .where('root.parent_id', 'is', null),
    )
    .executeTakeFirst()
  return row !== undefined
}
