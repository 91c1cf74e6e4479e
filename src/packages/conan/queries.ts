import { sql } from 'kysely'
import type { Ctx } from '../../ctx.ts'
import { bytesBefore } from '../../store/bytes-before.ts'
import type { Db } from '../../store/schema.ts'
import { findPackagesIn } from '../registry/place-queries.ts'
import { MANIFEST, type Place } from './reference.ts'

const member = (name: string) => sql<string | null>`json_extract(f.metadata, ${`$.${name}`})`

function files(db: Db, packageId: number) {
  return db
    .selectFrom('package_files as f')
    .where('f.package_id', '=', packageId)
    .where('f.status', '=', 'default')
}

function filesAt(db: Db, packageId: number, { rrev, pid, prev }: Place) {
  const query = files(db, packageId).where(member('rrev'), '=', rrev)
  return pid === undefined
    ? query.where(member('pid'), 'is', null)
    : query.where(member('pid'), '=', pid).where(member('prev'), '=', prev ?? '0')
}

/** The files of a revision, oldest first. */
export function listFilesAt(db: Db, packageId: number, place: Place) {
  return filesAt(db, packageId, place).selectAll('f').orderBy('f.id').execute()
}

/** The newest file of this name in a revision. */
export function findFileAt(db: Db, packageId: number, place: Place, fileName: string) {
  return filesAt(db, packageId, place)
    .selectAll('f')
    .where('f.file_name', '=', fileName)
    .orderBy('f.id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Everything of a recipe revision: its own files and those of its packages. */
export function listFilesBelow(db: Db, packageId: number, rrev: string, pid?: string) {
  const query = files(db, packageId).select('f.id').where(member('rrev'), '=', rrev)
  return (pid === undefined ? query : query.where(member('pid'), '=', pid)).execute()
}

/** The whole revisions of a recipe, or of one of its packages, the newest first. */
export async function listRevisions(
  db: Db,
  packageId: number,
  of: Pick<Place, 'pid'> & { readonly rrev?: string },
  most: number,
): Promise<{ revision: string; time: string }[]> {
  const revision = of.pid === undefined ? member('rrev') : member('prev')
  let query = files(db, packageId)
    .select([revision.as('revision'), (is) => is.fn.max('f.created_at').as('time')])
    .where('f.file_name', '=', MANIFEST)
    .groupBy(revision)
    .orderBy((is) => is.fn.max('f.id'), 'desc')
    .limit(most)
  query =
    of.pid === undefined
      ? query.where(member('pid'), 'is', null)
      : query.where(member('pid'), '=', of.pid).where(member('rrev'), '=', of.rrev ?? '')
  const rows = await query.execute()
  return rows.map((row) => ({ revision: row.revision ?? '', time: row.time }))
}

/** The newest information files of a recipe, or of one of its revisions, until they have so many bytes; oldest first. */
export function listInfos(
  db: Db,
  packageId: number,
  most: { readonly files: number; readonly bytes: number },
  rrev?: string,
) {
  let infos = files(db, packageId)
    .select(['f.id', bytesBefore('f.metadata', 'f.id').as('bytes')])
    .where('f.file_name', '=', 'conaninfo.txt')
  if (rrev !== undefined) infos = infos.where(member('rrev'), '=', rrev)
  const kept = db
    .selectFrom(infos.as('info'))
    .select('id')
    .where('bytes', '<', most.bytes)
    .orderBy('id', 'desc')
    .limit(most.files)
  return files(db, packageId)
    .select([member('pid').as('pid'), 'f.metadata'])
    .where('f.id', 'in', kept)
    .orderBy('f.id')
    .execute()
}

/** The names of the recipes of a project that match, in any case or as they are written. */
export async function searchRecipes(
  ctx: Pick<Ctx, 'db' | 'actor' | 'now'>,
  place: { readonly projectId: number } | undefined,
  pattern: { readonly glob: string; readonly ignoreCase: boolean },
  most: number,
): Promise<string[]> {
  // Without what clients leave out, as `textOf` does it.
  const left = sql<number>`CASE WHEN packages.name GLOB '*@_/_' THEN 4
    WHEN packages.name GLOB '*/_' THEN 2 ELSE 0 END`
  const shown = sql<string>`substr(packages.name, 1, length(packages.name) - ${left})`
  const { glob, ignoreCase } = pattern
  const matches = ignoreCase
    ? sql<boolean>`lower(${shown}) GLOB ${glob.toLowerCase()}`
    : sql<boolean>`${shown} GLOB ${glob}`
  const rows = await findPackagesIn(ctx, 'conan', place ?? { everywhere: true })
    .select(shown.as('name'))
    .where(matches)
    .orderBy('packages.name')
    .limit(most)
    .execute()
  return rows.map((row) => row.name)
}
