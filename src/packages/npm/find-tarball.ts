import type { Ctx } from '../../ctx.ts'
import { findInstallable, findPackageFile, type PackageFileRow } from '../registry/find.ts'
import type { NpmPlace } from './metadata.ts'
import { tarballName, versionInTarball } from './names.ts'

/** The tarball of the version that a file name says, of the newest upload where several projects have it. */
export async function findTarball(
  ctx: Pick<Ctx, 'db'>,
  { name, projectIds }: NpmPlace,
  fileName: string,
): Promise<PackageFileRow | undefined> {
  const version = versionInTarball(name, fileName)
  if (version === undefined) return undefined
  const key = { type: 'npm', nameKey: name, versionKey: version } as const
  for (const id of projectIds) {
    const row = await findInstallable(ctx, { id }, key)
    if (row) return await findPackageFile(ctx, row, tarballName(name, version))
  }
  return undefined
}
