import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import type { PackageFileRow } from '../registry/find.ts'

/** A published file as the answer to `select=package_file` shows it (docs/contract/D §1.31). */
export const genericFileEntity = z.strictObject({
  id: z.int(),
  package_id: z.int(),
  created_at: z.string(),
  updated_at: z.string(),
  size: z.int(),
  file_store: z.int(),
  file_md5: z.string(),
  file_sha1: z.string(),
  file_sha256: z.string(),
  file_name: z.string(),
  file: z.strictObject({ url: z.string() }),
})

export function presentGenericFile(
  ctx: Pick<Ctx, 'config'>,
  row: PackageFileRow,
): z.input<typeof genericFileEntity> {
  const { id, package_id, created_at, updated_at, size } = row
  const { file_md5, file_sha1, file_sha256, file_name } = row
  const root = `${ctx.config.externalUrl}/api/v4/projects/${row.project_id}/packages`
  const url = `${root}/${package_id}/package_files/${id}/download`
  const facts = { id, package_id, created_at, updated_at, size, file_store: 1 }
  return { ...facts, file_md5, file_sha1, file_sha256, file_name, file: { url } }
}
