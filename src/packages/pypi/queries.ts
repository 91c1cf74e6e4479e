import type { Ctx } from '../../ctx.ts'
import { cachedQuery } from '../../store/cached-query.ts'
import type { Db } from '../../store/schema.ts'
import { findPackagesIn, type PackagePlace } from '../registry/place-queries.ts'

export type PypiPlace = PackagePlace

/** The names that a place has, normalised, with one spelling of each. */
export function listNames(ctx: Pick<Ctx, 'db' | 'actor' | 'now'>, place: PypiPlace) {
  return findPackagesIn(ctx, 'pypi', place)
    .select(['packages.name_key', (is) => is.fn.max('packages.name').as('name')])
    .groupBy('packages.name_key')
    .orderBy('packages.name_key')
    .limit(100_000)
    .execute()
}

/** Ids of the projects of a place that have a name. */
export async function listProjectsWith(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  place: PypiPlace,
  nameKey: string,
): Promise<number[]> {
  const rows = await findPackagesIn(ctx, 'pypi', place)
    .select('packages.project_id')
    .distinct()
    .where('packages.name_key', '=', nameKey)
    .orderBy('packages.project_id')
    .limit(200)
    .execute()
  return rows.map((row) => row.project_id)
}

/** The files of a name in projects, of all its versions, oldest first. */
export function listFiles(db: Db, projectIds: readonly number[], nameKey: string) {
  return db
    .selectFrom('package_files as file')
    .innerJoin('packages', 'packages.id', 'file.package_id')
    .select([
      'packages.name',
      'file.project_id',
      'file.file_name',
      'file.file_sha256',
      'file.size',
      'file.metadata',
      'file.created_at',
    ])
    .where('packages.project_id', 'in', [...projectIds])
    .where('packages.package_type', '=', 'pypi')
    .where('packages.name_key', '=', nameKey)
    .where('packages.status', 'in', ['default', 'deprecated'])
    .where('file.status', '=', 'default')
    .orderBy('packages.id')
    .orderBy('file.id')
    .execute()
}

export type DistributionRow = Awaited<ReturnType<typeof listFiles>>[number]

/** The file of this name and hash in a place. */
export async function findDistribution(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  place: PypiPlace,
  sha256: string,
  fileName: string,
) {
  const ask = (db: Db) =>
    findPackagesIn({ ...ctx, db }, 'pypi', place)
      .innerJoin('package_files as file', 'file.package_id', 'packages.id')
      .selectAll('file')
      .where('file.file_sha256', '=', sha256)
      .where('file.file_name', '=', fileName)
      .where('file.status', '=', 'default')
      .orderBy('file.id', 'desc')
      .executeTakeFirst()
  // What a group has depends on who asks.
  if (!('projectId' in place)) return await ask(ctx.db)
  const key = `distribution in ${place.projectId} ${sha256} ${fileName}`
  return await cachedQuery(ctx.db, key, ask)
}
