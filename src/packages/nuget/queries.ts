import { sql } from 'kysely'
import type { Ctx } from '../../ctx.ts'
import { bytesBefore } from '../../store/bytes-before.ts'
import type { Db } from '../../store/schema.ts'
import { findPackagesIn, type PackagePlace } from '../registry/place-queries.ts'

type Reader = Pick<Ctx, 'db' | 'actor' | 'now'>

/** What a search asks for. */
export interface NugetSearch {
  readonly term: string
  readonly prerelease: boolean
  readonly skip: number
  readonly take: number
}

const isRelease = sql<boolean>`instr(packages.version_key, '-') = 0`

function matching(ctx: Reader, place: PackagePlace, search: NugetSearch) {
  const query = findPackagesIn(ctx, 'nuget', place)
  const found = search.prerelease ? query : query.where(isRelease)
  return search.term === ''
    ? found
    : found.where(sql<boolean>`instr(packages.name_key, ${search.term.toLowerCase()}) > 0`)
}

/** The names of a place that a search finds, a page of them, with how many there are. */
export async function searchNames(ctx: Reader, place: PackagePlace, search: NugetSearch) {
  const { total } = await matching(ctx, place, search)
    .select((is) => is.fn.count<number>('packages.name_key').distinct().as('total'))
    .executeTakeFirstOrThrow()
  const rows = await matching(ctx, place, search)
    .select('packages.name_key')
    .distinct()
    .orderBy('packages.name_key')
    .offset(search.skip)
    .limit(search.take)
    .execute()
  return { total, names: rows.map((row) => row.name_key) }
}

function versions(ctx: Reader, place: PackagePlace) {
  return findPackagesIn(ctx, 'nuget', place)
    .select([
      'packages.id',
      'packages.project_id',
      'packages.name',
      'packages.name_key',
      'packages.version',
      'packages.version_key',
      'packages.created_at',
    ])
    .orderBy('packages.id', 'desc')
}

/** The versions of names in a place, the newest upload first, without what they say of themselves. */
export function listNugetVersions(
  ctx: Reader,
  place: PackagePlace,
  nameKeys: readonly string[],
  most: number,
) {
  return versions(ctx, place)
    .where('packages.name_key', 'in', [...nameKeys])
    .limit(most)
    .execute()
}

export type NugetVersion = Awaited<ReturnType<typeof listNugetVersions>>[number]

/** With what its nuspec said, as the upload wrote it. */
export interface NugetVersionRow extends NugetVersion {
  readonly content: string
}

/** The newest upload of a version of a name in a place. */
export function findNugetVersion(
  ctx: Reader,
  place: PackagePlace,
  nameKey: string,
  versionKey: string,
): Promise<NugetVersionRow | undefined> {
  return versions(ctx, place)
    .innerJoin('package_metadata as metadata', 'metadata.package_id', 'packages.id')
    .select('metadata.content')
    .where('packages.name_key', '=', nameKey)
    .where('packages.version_key', '=', versionKey)
    .limit(1)
    .executeTakeFirst()
}

/** These versions with what they say of themselves, but only the newest uploads until that has so many bytes. */
export async function withContent(
  db: Db,
  versions: readonly NugetVersion[],
  mostBytes: number,
): Promise<NugetVersionRow[]> {
  if (versions.length === 0) return []
  const ids = versions.map((one) => one.id)
  const sized = db
    .selectFrom('package_metadata')
    .select(['package_id', bytesBefore('content', 'package_id').as('bytes')])
    .where('package_id', 'in', ids)
  const kept = db.selectFrom(sized.as('sized')).select('package_id').where('bytes', '<', mostBytes)
  const rows = await db
    .selectFrom('package_metadata')
    .selectAll()
    .where('package_id', 'in', kept)
    .execute()
  const contents = new Map(rows.map((row) => [row.package_id, row.content]))
  return versions.flatMap((one) => {
    const content = contents.get(one.id)
    return content === undefined ? [] : [{ ...one, content }]
  })
}

/** What these versions say of themselves but for their dependencies. */
export function listNugetTexts(db: Db, packageIds: readonly number[]) {
  return db
    .selectFrom('package_metadata')
    .select(['package_id', sql<string>`json_remove(content, '$.groups')`.as('content')])
    .where('package_id', 'in', [...packageIds])
    .execute()
}

/** The newest package file of each of these versions: its size and SHA-512. */
export function listNupkgs(db: Db, packageIds: readonly number[]) {
  return db
    .selectFrom('package_files')
    .select(['package_id', 'size', 'file_sha512'])
    .where('package_id', 'in', [...packageIds])
    .where('file_name', 'like', '%.nupkg')
    .where('status', '=', 'default')
    .orderBy('id')
    .execute()
}

/** The newest file of a version that ends so. */
export function findFileEnding(db: Db, packageId: number, end: '.nupkg' | '.snupkg') {
  return db
    .selectFrom('package_files')
    .selectAll()
    .where('package_id', '=', packageId)
    .where(sql<boolean>`substr(file_name, ${-end.length}) = ${end}`)
    .where('status', '=', 'default')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The symbol file of this id and checksum in a place. */
export function findSymbolFile(
  db: Db,
  place: PackagePlace,
  symbol: { readonly file: string; readonly signature: string; readonly checksum: string },
) {
  const query = db
    .selectFrom('package_files as file')
    .innerJoin('packages', 'packages.id', 'file.package_id')
    .innerJoin('projects', 'projects.id', 'file.project_id')
    .selectAll('file')
    .where('packages.package_type', '=', 'nuget')
    .where('packages.status', 'in', ['default', 'hidden', 'deprecated'])
    .where('projects.pending_delete', '=', 0)
    .where('file.status', '=', 'default')
    .where('file.file_name', '=', symbol.file)
    .where(sql`json_extract(file.metadata, '$.signature')`, '=', symbol.signature)
    .where(sql`json_extract(file.metadata, '$.checksum')`, '=', symbol.checksum)
    .limit(1)
  return 'projectId' in place
    ? query.where('file.project_id', '=', place.projectId).executeTakeFirst()
    : query
        .where('projects.namespace_id', 'in', (is) =>
          is
            .selectFrom('namespace_ancestors')
            .select('namespace_id')
            .where('ancestor_id', '=', place.groupId),
        )
        .executeTakeFirst()
}
