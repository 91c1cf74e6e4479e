import { sql } from 'kysely'
import type { Ctx } from '../../ctx.ts'
import { bytesBefore } from '../../store/bytes-before.ts'
import type { Db } from '../../store/schema.ts'
import { belowGroup, readsPackagesOf } from '../registry/readable.ts'

/** The project below a group that has a package and whose packages the caller may read. */
export function findProjectWith(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  groupId: number,
  nameKey: string,
) {
  return readable(ctx, groupId)
    .select(['packages.project_id', 'projects.full_path', 'projects.visibility'])
    .where('packages.name_key', '=', nameKey)
    .limit(1)
    .executeTakeFirst()
}

/** The names of the packages of a group that the caller may read, with the projects that have them. */
export function listNames(ctx: Pick<Ctx, 'db' | 'actor' | 'now'>, groupId: number, most: number) {
  return readable(ctx, groupId)
    .select([
      'packages.project_id',
      'packages.name_key',
      'projects.full_path',
      'projects.visibility',
    ])
    .distinct()
    .orderBy('packages.name_key')
    .limit(most)
    .execute()
}

function readable(ctx: Pick<Ctx, 'db' | 'actor' | 'now'>, groupId: number) {
  return ctx.db
    .selectFrom('packages')
    .innerJoin('projects', 'projects.id', 'packages.project_id')
    .where('packages.package_type', '=', 'composer')
    .where('packages.status', 'in', ['default', 'deprecated'])
    .where('projects.namespace_id', 'in', belowGroup(groupId))
    .where(readsPackagesOf(ctx))
}

function versionsOf(db: Db, projectId: number, nameKey: string) {
  return db
    .selectFrom('packages')
    .innerJoin('package_metadata as metadata', 'metadata.package_id', 'packages.id')
    .where('packages.project_id', '=', projectId)
    .where('packages.package_type', '=', 'composer')
    .where('packages.name_key', '=', nameKey)
    .where('packages.status', 'in', ['default', 'deprecated'])
}

/** The newest versions of a package of a project, until they have so many bytes; oldest first. */
export function listVersions(db: Db, projectId: number, nameKey: string, mostBytes: number) {
  const sized = versionsOf(db, projectId, nameKey).select([
    'packages.id',
    bytesBefore('metadata.content', 'packages.id').as('bytes'),
  ])
  const kept = db.selectFrom(sized.as('sized')).select('id').where('bytes', '<', mostBytes)
  return versionsOf(db, projectId, nameKey)
    .innerJoin('projects', 'projects.id', 'packages.project_id')
    .select([
      'packages.id',
      'packages.name',
      'packages.version',
      'packages.project_id',
      'projects.full_path',
      'projects.visibility',
      'metadata.content',
    ])
    .where('packages.id', 'in', kept)
    .orderBy('packages.id')
    .execute()
}

/** A version of a package of a project that is this commit. */
export function findVersionAt(db: Db, projectId: number, nameKey: string, sha: string) {
  const start = `{"sha":${JSON.stringify(sha)},` // of what `publishRef` stores
  return versionsOf(db, projectId, nameKey)
    .select('packages.id')
    .where(sql`substr(metadata.content, 1, ${start.length})`, '=', start)
    .limit(1)
    .executeTakeFirst()
}

export type ComposerVersion = Awaited<ReturnType<typeof listVersions>>[number]

/** Whether a project other than this one has a package of the name: Composer knows a name once. */
export async function isNameElsewhere(
  db: Db,
  projectId: number,
  nameKey: string,
): Promise<boolean> {
  const row = await db
    .selectFrom('packages')
    .select('id')
    .where('package_type', '=', 'composer')
    .where('name_key', '=', nameKey)
    .where('project_id', '<>', projectId)
    .where('status', '<>', 'pending_destruction')
    .executeTakeFirst()
  return row !== undefined
}
