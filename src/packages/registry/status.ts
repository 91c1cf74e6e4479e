import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { assertMayPush } from '../protection/conditions.ts'
import { forgetDocuments } from './documents.ts'
import { type PackageRow, updatePackageRow } from './queries.ts'

/**
 * Deprecates versions with a text for those who install them, or takes that back. A rule keeps that as it keeps
 * publishing.
 */
export async function setDeprecated(
  ctx: Ctx,
  project: Project,
  changes: readonly { readonly row: PackageRow; readonly text: string | null }[],
): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    for (const { row, text } of changes) {
      await assertMayPush(inner, project, row.package_type, row.name)
      const status = text === null ? 'default' : 'deprecated'
      await updatePackageRow(inner.db, row.id, { status, status_message: text }, inner.now())
      await forgetDocuments(inner.db, row)
    }
  })
}
