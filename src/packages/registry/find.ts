import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { INSTALLABLE } from './packages.ts'
import {
  findFileById,
  findFileRow,
  findPackageById,
  findPackageRow,
  listFileRows,
  listVersionRows,
  type PackageFileRow,
  type PackageKey,
  type PackageRow,
} from './queries.ts'

export type { PackageFileRow, PackageRow } from './queries.ts'

type Place = Pick<Project, 'id'>

/** A version of a package that clients may install. */
export async function findInstallable(
  ctx: Pick<Ctx, 'db'>,
  project: Place,
  key: PackageKey,
): Promise<PackageRow | undefined> {
  const row = await findPackageRow(ctx.db, project.id, key)
  return row && INSTALLABLE.includes(row.status) ? row : undefined
}

/** Every version of a name that clients may install, oldest first. */
export async function listInstallable(
  ctx: Pick<Ctx, 'db'>,
  project: Place,
  key: Pick<PackageKey, 'type' | 'nameKey'>,
): Promise<PackageRow[]> {
  const rows = await listVersionRows(ctx.db, project.id, key.type, key.nameKey)
  return rows.filter((row) => INSTALLABLE.includes(row.status))
}

/** The newest file of this name in a version. */
export function findPackageFile(
  ctx: Pick<Ctx, 'db'>,
  row: Pick<PackageRow, 'id'>,
  fileName: string,
): Promise<PackageFileRow | undefined> {
  return findFileRow(ctx.db, row.id, fileName)
}

/** The files of a version, oldest first. */
export function listPackageFiles(
  ctx: Pick<Ctx, 'db'>,
  row: Pick<PackageRow, 'id'>,
): Promise<PackageFileRow[]> {
  return listFileRows(ctx.db, row.id)
}

/** The package of this id in a project, whatever its status but that of one being removed. */
export function findPackageOfId(
  ctx: Pick<Ctx, 'db'>,
  project: Place,
  id: number,
): Promise<PackageRow | undefined> {
  return findPackageById(ctx.db, project.id, id)
}

export function findFileOfId(
  ctx: Pick<Ctx, 'db'>,
  row: Pick<PackageRow, 'id'>,
  id: number,
): Promise<PackageFileRow | undefined> {
  return findFileById(ctx.db, row.id, id)
}
