import type { Ctx } from '../../../ctx.ts'
import type { UploadedFile } from '../../../http/params.ts'
import { storeAvatar } from './avatar.ts'

/** The columns that name an avatar. */
export interface Avatar {
  readonly avatar_file: string
  readonly avatar_name: string
}

/** What a request says about the avatar: a stored file, null to remove it, undefined when it says nothing. */
export async function sentAvatar(
  ctx: Ctx,
  sent: UploadedFile | string | null | undefined,
): Promise<Avatar | null | undefined> {
  if (sent === undefined) return undefined
  return sent === null || typeof sent === 'string' ? null : await storeAvatar(ctx, sent)
}
