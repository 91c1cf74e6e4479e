import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { forgetDocuments } from './documents.ts'
import { moveTag, type PackageRow, removeTag } from './queries.ts'

/** Puts a tag on a version, and takes it from the other versions of the name. */
export async function putTag(ctx: Ctx, row: PackageRow, tag: string): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await moveTag(inner.db, row, tag, inner.now())
    await forgetDocuments(inner.db, row)
  })
}

/** Removes a tag of a name; false when no version has it. */
export async function deleteTag(
  ctx: Ctx,
  at: Pick<PackageRow, 'project_id' | 'package_type' | 'name_key'>,
  tag: string,
): Promise<boolean> {
  return await inTransaction(ctx, async (inner) => {
    const isGone = await removeTag(inner.db, at, tag)
    if (isGone) await forgetDocuments(inner.db, at)
    return isGone
  })
}
