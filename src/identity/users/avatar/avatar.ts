import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { invalid } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import type { UploadedFile } from '../../../http/params.ts'

/** What images begin with; a name or content type proves nothing. SVG is left out, since it can carry scripts. */
const IMAGES: readonly {
  readonly extension: string
  readonly type: string
  readonly magic: RegExp
}[] = [
  { extension: 'png', type: 'image/png', magic: /^89504e470d0a1a0a/ },
  { extension: 'jpg', type: 'image/jpeg', magic: /^ffd8ff/ },
  { extension: 'gif', type: 'image/gif', magic: /^474946383[79]61/ },
  { extension: 'bmp', type: 'image/bmp', magic: /^424d/ },
  { extension: 'tiff', type: 'image/tiff', magic: /^(49492a00|4d4d002a)/ },
  { extension: 'ico', type: 'image/vnd.microsoft.icon', magic: /^00000100/ },
  { extension: 'webp', type: 'image/webp', magic: /^52494646.{8}57454250/ },
]

/** The content type of an image by its first bytes, or undefined when it is none. */
export function imageType(head: Buffer): string | undefined {
  const hex = head.subarray(0, 16).toString('hex')
  return IMAGES.find(({ magic }) => magic.test(hex))?.type
}

/** Keeps an uploaded avatar; gives the columns that name it. Too large or no image: 400 (docs/contract/D §1.1). */
export async function storeAvatar(
  ctx: Pick<Ctx, 'files' | 'config'>,
  upload: UploadedFile,
): Promise<{ avatar_file: string; avatar_name: string }> {
  if (upload.size > ctx.config.maxAvatar) {
    const kib = Math.floor(ctx.config.maxAvatar / 1024)
    throw invalid({ avatar: [`is too big (should be at most ${kib} KiB)`] })
  }
  if (imageType(await readHead(upload.path)) === undefined) {
    const known = IMAGES.map(({ extension }) => extension).join(', ')
    throw invalid({
      avatar: [
        `file format is not supported. Please try one of the following supported formats: ${known}`,
      ],
    })
  }
  const stored = await ctx.files.put(createReadStream(upload.path))
  const name = upload.filename.replaceAll(/[^\w.-]+/g, '_').slice(-100) || 'avatar'
  return { avatar_file: stored.sha256, avatar_name: name }
}

async function readHead(path: string): Promise<Buffer> {
  const file = await open(path, 'r')
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    await file.close()
  }
}
