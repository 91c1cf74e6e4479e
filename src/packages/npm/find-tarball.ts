import type { Ctx } from '../../ctx.ts'
import {
  findInstallable,
  findPackageFile,
  type PackageFileRow,
  type PackageRow,
} from '../registry/find.ts'
import type { NpmPlace } from './metadata.ts'
import { tarballName, versionInTarball } from './names.ts'

/** The tarball of the version that a file name says: of its newest upload, as the metadata has it. */
export async function findTarball(
  ctx: Pick<Ctx, 'db'>,
  { name, projectIds }: NpmPlace,
  fileName: string,
): Promise<PackageFileRow | undefined> {
  const version = versionInTarball(name, fileName)
  if (version === undefined) return undefined
  const key = { type: 'npm', nameKey: name, versionKey: version } as const
  let newest: PackageRow | undefined
  for (const id of projectIds) {
    const row = await findInstallable(ctx, { id }, key)
    if (row && row.id > (newest?.id ?? 0)) newest = row
  }
  return newest && findPackageFile(ctx, newest, tarballName(name, version))
}
