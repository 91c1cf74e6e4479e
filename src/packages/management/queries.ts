import { sql } from 'kysely'
import type { Instant } from '../../base/clock.ts'
import { groupBy } from '../../base/group-by.ts'
import type { OffsetPage, Page } from '../../base/page.ts'
import type { Ctx } from '../../ctx.ts'
import { userBasicColumns } from '../../identity/users/basic.ts'
import { listPage } from '../../store/pages.ts'
import type { PackageStatus, PackageType } from '../../store/schema/packages.ts'
import type { Db, RowOf } from '../../store/schema.ts'
import { containing } from '../../store/search.ts'
import { LISTED } from '../registry/packages.ts'
import { belowGroup, readsPackagesOf } from '../registry/readable.ts'

export interface PackageFilters {
  readonly order_by?: 'created_at' | 'name' | 'version' | 'type' | 'project_path' | undefined
  readonly sort?: 'asc' | 'desc' | undefined
  readonly package_type?: PackageType | undefined
  readonly package_name?: string | undefined
  readonly package_version?: string | undefined
  readonly include_versionless?: boolean | undefined
  readonly status?: PackageStatus | undefined
}

export type PackagePlace =
  | { readonly projectId: number }
  | { readonly groupId: number; readonly withSubgroups: boolean }

const orderColumns = {
  created_at: 'packages.created_at',
  name: 'packages.name',
  version: 'packages.version',
  type: 'packages.package_type',
  project_path: 'projects.full_path',
} as const

/** Packages of a name that are looked up by their ids; of more, a page is soon found in the order of the list. */
const MOST_NAMED = 5000

/** The packages of a project, or of those projects of a group whose packages the caller may read. */
export async function listPackages(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  place: PackagePlace,
  filters: PackageFilters,
  page: OffsetPage,
) {
  const direction = filters.sort ?? 'asc'
  const { package_type, package_name, package_version, status } = filters
  const ids = await listIdsNamed(ctx.db, place, package_name)
  const column = (name: string) => (ids ? unindexed(name) : sql.ref<number>(name))
  let query = ctx.db
    .selectFrom('packages')
    .innerJoin('projects', (on) => on.on('projects.id', '=', column('packages.project_id')))
    .selectAll('packages')
    .select('projects.full_path')
    .orderBy(column(orderColumns[filters.order_by ?? 'created_at']), direction)
    .orderBy('packages.id', direction)
  if ('projectId' in place) query = query.where(column('packages.project_id'), '=', place.projectId)
  else {
    query = query
      .where(readsPackagesOf(ctx))
      .where(
        'projects.namespace_id',
        place.withSubgroups ? 'in' : '=',
        place.withSubgroups ? belowGroup(place.groupId) : place.groupId,
      )
  }
  query = status
    ? query.where('packages.status', '=', status)
    : query.where('packages.status', 'in', LISTED)
  query = package_type
    ? query.where('packages.package_type', '=', package_type)
    : query.where('packages.package_type', '<>', 'terraform_module')
  if (ids) {
    const among = sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`
    query = query.where(sql<boolean>`packages.id IN ${among}`)
  } else if (package_name) {
    query = query.where(sql<boolean>`packages.name LIKE ${containing(package_name)} ESCAPE '\\'`)
  }
  if (package_version) query = query.where('packages.version', '=', package_version)
  else if (!filters.include_versionless) query = query.where('packages.version', 'is not', null)
  return await listPage(ctx.db, query, page)
}

/** With a plus before it no index finds a column: SQLite would read all packages for the few of a name. */
function unindexed(column: string) {
  return sql<number>`+${sql.ref(column)}`
}

/** Ids of packages whose names hold a word; only the index of names is read. Nothing when there is no word, or too many. */
async function listIdsNamed(
  db: Db,
  place: PackagePlace,
  word: string | undefined,
): Promise<number[] | undefined> {
  if (!word) return undefined
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM packages INDEXED BY packages_by_name
    WHERE project_id IN ${projectsOf(place)} AND name LIKE ${containing(word)} ESCAPE '\\'
    LIMIT ${MOST_NAMED + 1}`.execute(db)
  return rows.length > MOST_NAMED ? undefined : rows.map((row) => row.id)
}

function projectsOf(place: PackagePlace) {
  if ('projectId' in place) return sql`(${place.projectId})`
  const groups = place.withSubgroups ? belowGroup(place.groupId) : sql`(${place.groupId})`
  return sql`(SELECT id FROM projects WHERE namespace_id IN ${groups})`
}

export type ListedPackage = Awaited<ReturnType<typeof listPackages>>['items'][number]

/** Other versions of the same name that may be shown, newest first. */
export function listOtherVersions(
  db: Db,
  of: {
    readonly id: number
    readonly project_id: number
    readonly package_type: PackageType
    readonly name_key: string
  },
) {
  return db
    .selectFrom('packages')
    .select(['id', 'version', 'created_at'])
    .where('project_id', '=', of.project_id)
    .where('package_type', '=', of.package_type)
    .where('name_key', '=', of.name_key)
    .where('id', '<>', of.id)
    .where('version', 'is not', null)
    .where('status', 'in', ['default', 'deprecated'])
    .orderBy('id', 'desc')
    .limit(1000)
    .execute()
}

export async function findDownloadedAt(db: Db, packageId: number): Promise<Instant | null> {
  const row = await db
    .selectFrom('package_downloads')
    .select('last_downloaded_at')
    .where('package_id', '=', packageId)
    .executeTakeFirst()
  return row?.last_downloaded_at ?? null
}

/** The tags of packages, by package. */
export async function listTagsOf(
  db: Db,
  packageIds: readonly number[],
): Promise<Map<number, RowOf<'package_tags'>[]>> {
  if (packageIds.length === 0) return new Map()
  const rows = await db
    .selectFrom('package_tags')
    .selectAll()
    .where('package_id', 'in', [...packageIds])
    .orderBy('id')
    .execute()
  return groupBy(rows, (row) => row.package_id)
}

function pipelines(db: Db) {
  return db
    .selectFrom('pipelines')
    .leftJoin('users', 'users.id', 'pipelines.user_id')
    .select([
      'pipelines.id as pipeline_id',
      'pipelines.iid',
      'pipelines.project_id',
      'pipelines.sha',
      'pipelines.ref',
      'pipelines.status',
      'pipelines.source',
      'pipelines.created_at',
      'pipelines.updated_at',
      ...userBasicColumns,
    ])
}

export type PipelineOfPackage = Awaited<ReturnType<ReturnType<typeof pipelines>['execute']>>[number]

/** Pipelines that one answer shows at most, in equal parts for its packages. */
const MOST_PIPELINES = 2000

/** The latest pipelines of packages, oldest first, by package. */
export async function listPipelinesOf(
  db: Db,
  packageIds: readonly number[],
): Promise<Map<number, PipelineOfPackage[]>> {
  if (packageIds.length === 0) return new Map()
  const builds = db
    .selectFrom('package_pipelines')
    .select(['id', 'package_id', 'pipeline_id'])
    .select(sql<number>`row_number() OVER (PARTITION BY package_id ORDER BY id DESC)`.as('place'))
    .where('package_id', 'in', [...packageIds])
  const rows = await pipelines(db)
    .innerJoin(builds.as('build'), 'build.pipeline_id', 'pipelines.id')
    .select('build.package_id')
    .where('build.place', '<=', Math.ceil(MOST_PIPELINES / packageIds.length))
    .orderBy('build.id')
    .execute()
  return groupBy(rows, (row) => row.package_id)
}

/** The pipelines of files, by file. */
export async function listPipelinesOfFiles(
  db: Db,
  fileIds: readonly number[],
): Promise<Map<number, PipelineOfPackage[]>> {
  if (fileIds.length === 0) return new Map()
  const rows = await pipelines(db)
    .innerJoin('package_file_pipelines as build', 'build.pipeline_id', 'pipelines.id')
    .select('build.package_file_id')
    .where('build.package_file_id', 'in', [...fileIds])
    .orderBy('build.pipeline_id')
    .limit(2000)
    .execute()
  return groupBy(rows, (row) => row.package_file_id)
}

/** The pipelines of a package by their own ids, whichever of them published first. */
export function listPipelinePage(db: Db, packageId: number, page: Page) {
  const query = pipelines(db)
    .innerJoin('package_pipelines as build', 'build.pipeline_id', 'pipelines.id')
    .where('build.package_id', '=', packageId)
  return listPage(db, query, page, {
    id: 'pipelines.id',
    idOf: (row) => row.pipeline_id,
    keys: {},
  })
}

export function listFilePage(
  db: Db,
  packageId: number,
  order: { readonly by: 'id' | 'file_name' | 'created_at'; readonly sort: 'asc' | 'desc' },
  page: OffsetPage,
) {
  const query = db
    .selectFrom('package_files')
    .selectAll()
    .where('package_id', '=', packageId)
    .where('status', '=', 'default')
    .orderBy(order.by, order.sort)
  return listPage(db, order.by === 'id' ? query : query.orderBy('id', order.sort), page)
}
