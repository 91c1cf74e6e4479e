import type { Ctx } from '../../../ctx.ts'
import type { Bytes } from '../../../http/endpoint.ts'
import { imageType } from './avatar.ts'

/** The bytes of a stored avatar as they were uploaded, with the type that they have. */
export async function getAvatar(ctx: Ctx, file: string): Promise<Bytes> {
  const body = await ctx.files.read(file)
  return { body, type: imageType(body) ?? 'application/octet-stream' }
}
