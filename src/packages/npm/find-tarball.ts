import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { findInstallable, listPackageFiles, type PackageFileRow } from '../registry/find.ts'
import { versionInTarball } from './names.ts'

/** The tarball of the version that a file name says. */
export async function findTarball(
  ctx: Pick<Ctx, 'db'>,
  project: Pick<Project, 'id'>,
  name: string,
  fileName: string,
): Promise<PackageFileRow | undefined> {
  const version = versionInTarball(name, fileName)
  if (version === undefined) return undefined
  const key = { type: 'npm', nameKey: name, versionKey: version } as const
  const row = await findInstallable(ctx, project, key)
  return row && (await listPackageFiles(ctx, row)).at(-1)
}
