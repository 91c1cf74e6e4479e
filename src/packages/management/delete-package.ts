import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { rewriteMavenMetadata } from '../maven/rewrite-metadata.ts'
import type { PackageRow } from '../registry/find.ts'
import { removePackage } from '../registry/remove.ts'

/** Deletes a package as a person asked; Maven's list of versions follows in the background. */
export async function deletePackage(ctx: Ctx, project: Project, row: PackageRow): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await removePackage(inner, project, row)
    if (row.package_type !== 'maven' || row.version === null) return
    const payload = { project_id: project.id, name: row.name }
    const uniqueKey = `${project.id} ${row.name}`
    await inner.work.enqueue(inner.db, rewriteMavenMetadata, payload, { uniqueKey })
  })
}
