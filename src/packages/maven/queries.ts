import type { Ctx } from '../../ctx.ts'
import type { Db } from '../../store/schema.ts'
import { belowGroup, readsPackagesOf } from '../registry/readable.ts'
import type { MavenPath } from './path.ts'

/** Where Maven looks: in a project, in those of a group, or in the one whose full path is the name of the package. */
export type MavenPlace =
  | { readonly projectId: number }
  | { readonly groupId: number }
  | { readonly projectPath: string }

/** The newest file of this path in a place. */
export function findMavenFile(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  place: MavenPlace,
  path: MavenPath,
) {
  let query = ctx.db
    .selectFrom('package_files as file')
    .innerJoin('packages', 'packages.id', 'file.package_id')
    .innerJoin('projects', 'projects.id', 'packages.project_id')
    .selectAll('file')
    .where('packages.package_type', '=', 'maven')
    .where('packages.name_key', '=', path.name)
    .where('packages.version_key', '=', path.version ?? '')
    .where('packages.status', 'in', ['default', 'hidden', 'deprecated'])
    .where('file.file_name', '=', path.fileName)
    .where('file.status', '=', 'default')
    .orderBy('file.id', 'desc')
    .limit(1)
  if ('projectId' in place) query = query.where('packages.project_id', '=', place.projectId)
  else {
    query = query.where(readsPackagesOf(ctx))
    query =
      'groupId' in place
        ? query.where('projects.namespace_id', 'in', belowGroup(place.groupId))
        : query.where('projects.full_path', '=', place.projectPath)
  }
  return query.executeTakeFirst()
}

/** Id of the project at this full path, when the caller may read its packages. */
export async function findReadableProject(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  fullPath: string,
): Promise<number | undefined> {
  const row = await ctx.db
    .selectFrom('projects')
    .select('projects.id')
    .where('projects.full_path', '=', fullPath)
    .where(readsPackagesOf(ctx))
    .executeTakeFirst()
  return row?.id
}

/** The names of the files of one version. */
export async function listFileNames(
  db: Db,
  projectId: number,
  path: Pick<MavenPath, 'name' | 'version'>,
): Promise<string[]> {
  const rows = await db
    .selectFrom('package_files as file')
    .innerJoin('packages', 'packages.id', 'file.package_id')
    .select('file.file_name')
    .where('packages.project_id', '=', projectId)
    .where('packages.package_type', '=', 'maven')
    .where('packages.name_key', '=', path.name)
    .where('packages.version_key', '=', path.version ?? '')
    .where('packages.status', '<>', 'pending_destruction')
    .where('file.status', '=', 'default')
    .execute()
  return rows.map((row) => row.file_name)
}
