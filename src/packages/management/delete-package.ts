import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { PackageRow } from '../registry/find.ts'
import { removePackage } from '../registry/remove.ts'

/** Deletes a package as a person asked, with what its format does after that. */
export async function deletePackage(ctx: Ctx, project: Project, row: PackageRow): Promise<void> {
  await removePackage(ctx, project, row)
}
