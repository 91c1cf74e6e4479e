import type { Project } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { assertMayPush } from '../protection/conditions.ts'
import { forgetDocuments } from './documents.ts'
import { findPackageById, moveTag, type PackageRow, removeTag } from './queries.ts'

/** Puts a tag on a version, and takes it from the other versions of the name. A rule keeps that as it keeps publishing. */
export async function putTag(
  ctx: Ctx,
  project: Project,
  row: PackageRow,
  tag: string,
): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await assertMayPush(inner, project, row.package_type, row.name)
    if (!(await findPackageById(inner.db, project.id, row.id))) throw notFound('Package')
    await moveTag(inner.db, row, tag, inner.now())
    await forgetDocuments(inner.db, row)
  })
}

/** Removes a tag of a name; false when no version has it. */
export async function deleteTag(
  ctx: Ctx,
  project: Project,
  at: Pick<PackageRow, 'project_id' | 'package_type' | 'name_key'>,
  tag: string,
): Promise<boolean> {
  return await inTransaction(ctx, async (inner) => {
    await assertMayPush(inner, project, at.package_type, at.name_key)
    const isGone = await removeTag(inner.db, at, tag)
    if (isGone) await forgetDocuments(inner.db, at)
    return isGone
  })
}
