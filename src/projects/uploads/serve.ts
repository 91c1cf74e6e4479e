import { buffer } from 'node:stream/consumers'
import type { Ctx } from '../../ctx.ts'
import { contentDisposition } from '../../http/content-disposition.ts'
import type { Bytes } from '../../http/endpoint.ts'
import { imageType } from '../../identity/users/avatar/avatar.ts'
import type { UploadRow } from './queries.ts'

const HEAD_BYTES = 16

/**
 * The bytes of an upload. Only what is an image by its first bytes is shown in place; everything else is to be saved,
 * since it could be a page or a script of somebody's.
 */
export async function serveUpload(ctx: Ctx, row: UploadRow): Promise<Bytes> {
  const { body, size } = await ctx.files.open(row.file)
  const type = await typeOf(ctx, row.file, size)
  const kind = type === undefined ? 'attachment' : 'inline'
  return {
    body,
    type: type ?? 'application/octet-stream',
    headers: {
      'Content-Disposition': contentDisposition(kind, row.filename),
      'Content-Length': String(size),
      'Content-Security-Policy': "sandbox; default-src 'none'",
    },
  }
}

async function typeOf(ctx: Ctx, file: string, size: number): Promise<string | undefined> {
  if (size < HEAD_BYTES) return undefined
  const { body } = await ctx.files.open(file, { start: 0, end: HEAD_BYTES - 1 })
  return imageType(await buffer(body))
}
