import type { Ctx } from '../../ctx.ts'
import type { PackageType } from '../../store/schema/packages.ts'
import type { Db } from '../../store/schema.ts'
import { belowGroup, belowPlace, readsPackagesOf, type WidePlace } from './readable.ts'

/** Where clients look: in one project, or in those of a group whose packages the caller may read. */
export type PackagePlace = { readonly projectId: number } | { readonly groupId: number }

/** As `PackagePlace`, or the projects below a top-level group. */
export type SearchedPlace = PackagePlace | WidePlace

/** All projects of the server whose packages the caller may read. */
interface Everywhere {
  readonly everywhere: true
}

/** The packages of a format that clients may install from a place, with their projects. */
export function findPackagesIn(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  type: PackageType,
  place: PackagePlace | Everywhere,
) {
  const query = ctx.db
    .selectFrom('packages')
    .innerJoin('projects', 'projects.id', 'packages.project_id')
    .where('packages.package_type', '=', type)
    .where('packages.status', 'in', ['default', 'deprecated'])
  if ('projectId' in place) return query.where('packages.project_id', '=', place.projectId)
  const readable = query.where(readsPackagesOf(ctx))
  return 'everywhere' in place
    ? readable
    : readable.where('projects.namespace_id', 'in', belowGroup(place.groupId))
}

/** Whether any version of one of these names was published in a place, whoever may read it. */
export async function isPublishedIn(
  db: Db,
  type: PackageType,
  place: SearchedPlace,
  nameKeys: readonly string[],
): Promise<boolean> {
  const query = db
    .selectFrom('packages')
    .select('packages.id')
    .where('packages.package_type', '=', type)
    .where('packages.name_key', 'in', [...nameKeys])
    .where('packages.status', '<>', 'pending_destruction')
    .limit(1)
  const found =
    'projectId' in place
      ? query.where('packages.project_id', '=', place.projectId)
      : query
          .innerJoin('projects', 'projects.id', 'packages.project_id')
          .where('projects.namespace_id', 'in', belowPlace(place))
  return (await found.executeTakeFirst()) !== undefined
}
