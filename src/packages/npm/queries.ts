import { sql } from 'kysely'
import type { Ctx } from '../../ctx.ts'
import { bytesBefore } from '../../store/bytes-before.ts'
import type { Db } from '../../store/schema.ts'
import { belowPlace, readsPackagesOf, type WidePlace } from '../registry/readable.ts'
import { scopeOf } from './names.ts'

/** Ids of the projects that have this package and whose packages the caller may read, the newest upload first. */
export async function listProjectsWith(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  name: string,
  within: WidePlace,
): Promise<number[]> {
  const rows = await ctx.db
    .selectFrom('packages')
    .innerJoin('projects', 'projects.id', 'packages.project_id')
    .select('packages.project_id')
    .where('packages.package_type', '=', 'npm')
    .where('packages.name_key', '=', name)
    .where('packages.status', 'in', ['default', 'deprecated'])
    .where('projects.namespace_id', 'in', belowPlace(within))
    .where(readsPackagesOf(ctx))
    .groupBy('packages.project_id')
    .orderBy((is) => is.fn.max('packages.id'), 'desc')
    .limit(200)
    .execute()
  return rows.map((row) => row.project_id)
}

function versionsOf(db: Db, projectIds: readonly number[], name: string) {
  return db
    .selectFrom('packages')
    .innerJoin('package_files as file', 'file.package_id', 'packages.id')
    .where('packages.project_id', 'in', [...projectIds])
    .where('packages.package_type', '=', 'npm')
    .where('packages.name_key', '=', name)
    .where('packages.status', 'in', ['default', 'deprecated'])
    .where('file.status', '=', 'default')
}

/**
 * The versions of a package in these projects that may be installed, until their manifests have so many bytes: those that
 * have tags, and the newest of the others; oldest upload first.
 */
export function listVersions(
  db: Db,
  projectIds: readonly number[],
  name: string,
  mostBytes: number,
) {
  return versionsOf(db, projectIds, name)
    .innerJoin('package_metadata as metadata', 'metadata.package_id', 'packages.id')
    .select([
      'packages.id',
      'packages.project_id',
      'packages.version',
      'packages.status',
      'packages.status_message',
      'packages.created_at',
      'packages.updated_at',
      'metadata.content',
      'file.file_sha1',
      'file.file_sha512',
      'file.size',
    ])
    .where('packages.id', 'in', shownIds(db, projectIds, name, mostBytes))
    .orderBy('packages.id')
    .execute()
}

/** As `listVersions`, without what they say of themselves. */
export function listShownVersions(
  db: Db,
  projectIds: readonly number[],
  name: string,
  mostBytes: number,
) {
  return versionsOf(db, projectIds, name)
    .select(['packages.id', 'packages.version'])
    .where('packages.id', 'in', shownIds(db, projectIds, name, mostBytes))
    .orderBy('packages.id')
    .execute()
}

function shownIds(db: Db, projectIds: readonly number[], name: string, mostBytes: number) {
  const sized = versionsOf(db, projectIds, name)
    .innerJoin('package_metadata as metadata', 'metadata.package_id', 'packages.id')
    .select(['packages.id', bytesBefore('metadata.content', 'packages.id', byTags).as('bytes')])
  return db.selectFrom(sized.as('sized')).select('id').where('bytes', '<', mostBytes)
}

/** The version that clients install unasked first, then those that they are asked for by a name that stays. */
const byTags = sql`(SELECT coalesce(max(CASE tag.name WHEN 'latest' THEN 2 ELSE 1 END), 0)
  FROM package_tags tag WHERE tag.package_id = packages.id) DESC, packages.id DESC`

/** What the versions of a package in these projects are called, of those that may be installed. */
export async function listVersionNames(
  db: Db,
  projectIds: readonly number[],
  name: string,
): Promise<string[]> {
  if (projectIds.length === 0) return []
  const rows = await versionsOf(db, projectIds, name)
    .select('packages.version')
    .orderBy('packages.id')
    .execute()
  return rows.map((row) => row.version ?? '')
}

export type VersionRow = Awaited<ReturnType<typeof listVersions>>[number]

/** The tags of a package in these projects, the latest put last. */
export function listTags(db: Db, projectIds: readonly number[], name: string) {
  return db
    .selectFrom('package_tags as tag')
    .innerJoin('packages', 'packages.id', 'tag.package_id')
    .select(['tag.name', 'packages.version'])
    .where('packages.project_id', 'in', [...projectIds])
    .where('packages.package_type', '=', 'npm')
    .where('packages.name_key', '=', name)
    .where('packages.status', 'in', ['default', 'deprecated'])
    .orderBy('tag.id')
    .execute()
}

/** Whether another project below the same top-level group, whose path is the scope of the name, has this version. */
export async function isVersionElsewhere(
  db: Db,
  project: { readonly id: number; readonly namespace_id: number },
  name: string,
  version: string,
): Promise<boolean> {
  const scope = scopeOf(name)
  if (scope === undefined) return false
  const row = await db
    .selectFrom('packages')
    .innerJoin('projects', 'projects.id', 'packages.project_id')
    .select('packages.id')
    .where('packages.package_type', '=', 'npm')
    .where('packages.name_key', '=', name)
    .where('packages.version_key', '=', version)
    .where('packages.status', '<>', 'pending_destruction')
    .where('packages.project_id', '<>', project.id)
    .where(
      sql<boolean>`projects.namespace_id IN (
        SELECT below.namespace_id FROM namespace_ancestors below WHERE below.ancestor_id = (
          SELECT root.id FROM namespace_ancestors above JOIN namespaces root
            ON root.id = above.ancestor_id AND root.parent_id IS NULL
            WHERE above.namespace_id = ${project.namespace_id} AND root.full_path = ${scope}))`,
    )
    .executeTakeFirst()
  return row !== undefined
}
