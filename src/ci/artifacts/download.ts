import type { Ctx } from '../../ctx.ts'
import type { Download } from '../../http/conditional-file.ts'
import type { ArtifactRow } from './queries.ts'

const TYPES: Readonly<Record<ArtifactRow['file_format'], string>> = {
  zip: 'application/zip',
  gzip: 'application/gzip',
  raw: 'application/octet-stream',
}

/** A file of a job as a download. */
export function downloadOf(ctx: Pick<Ctx, 'files'>, row: ArtifactRow): Download {
  const name = row.filename.replaceAll(/[^\w.-]/g, '_')
  return {
    size: row.size,
    etag: `"${row.sha256}"`,
    type: TYPES[row.file_format],
    headers: { 'Content-Disposition': `attachment; filename="${name}"` },
    open: async (range) => (await ctx.files.open(row.sha256, range, row.size)).body,
  }
}
