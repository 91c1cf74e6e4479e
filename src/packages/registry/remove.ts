import { z } from 'zod'
import { audit } from '../../access/audit.ts'
import type { Project } from '../../access/subjects.ts'
import { task } from '../../background/task.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { inTransaction } from '../../store/transaction.ts'
import { assertMayDelete } from '../protection/conditions.ts'
import { forgetDocuments } from './documents.ts'
import {
  deleteEmptyPackages,
  deleteMarkedFiles,
  markFiles,
  type PackageFileRow,
  type PackageRow,
  updatePackageRow,
} from './queries.ts'

const atOnce = 500

/** Takes away what was marked for removal, some rows at a time. The daily sweep removes bytes that nothing names. */
export const removeMarkedPackages = task({
  name: 'packages.remove_marked',
  payload: z.object({}),
  lane: 'slow',
  async handler(ctx: Ctx, _payload, signal) {
    for (const remove of [deleteMarkedFiles, deleteEmptyPackages]) {
      while ((await remove(ctx.db, atOnce)) > 0) signal.throwIfAborted()
    }
  },
})

/** Removes a version: nobody sees it from now on, its name is free, and its rows and files follow in the background. */
export async function removePackage(ctx: Ctx, project: Project, row: PackageRow): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await assertMayDelete(inner, project, row)
    const change = { status: 'pending_destruction' } as const
    if (!(await updatePackageRow(inner.db, row.id, change, inner.now()))) throw notFound('Package')
    await forgetDocuments(inner.db, row)
    await inner.work.enqueue(inner.db, removeMarkedPackages, {}, { uniqueKey: 'marked' })
    await audit(inner, {
      entity: { type: 'Project', id: project.id },
      action: 'package_deleted',
      details: { type: row.package_type, name: row.name, version: row.version },
    })
  })
}

/** Removes files of one version, and keeps the version. */
export async function removeFiles(
  ctx: Ctx,
  project: Project,
  row: PackageRow,
  files: readonly Pick<PackageFileRow, 'id'>[],
): Promise<void> {
  await inTransaction(ctx, async (inner) => {
    await assertMayDelete(inner, project, row)
    if ((await dropFiles(inner, row, files)) === 0) throw notFound('Package file')
  })
}

/** As `removeFiles`, by the server itself; gives how many there were. */
export async function dropFiles(
  ctx: Ctx,
  row: Pick<PackageRow, 'project_id' | 'package_type' | 'name_key'>,
  files: readonly Pick<PackageFileRow, 'id'>[],
): Promise<number> {
  const ids = files.map((file) => file.id)
  const marked = await markFiles(ctx.db, ids, ctx.now())
  await forgetDocuments(ctx.db, row)
  await ctx.work.enqueue(ctx.db, removeMarkedPackages, {}, { uniqueKey: 'marked' })
  return marked
}
