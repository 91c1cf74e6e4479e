import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { badParameters } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { UploadedFile } from '../../http/params.ts'
import { addFile } from './edit.ts'
import type { Wiki } from './wiki.ts'

export const attachmentEntity = z.strictObject({
  file_name: z.string(),
  file_path: z.string(),
  branch: z.string(),
  link: z.strictObject({ url: z.string(), markdown: z.string() }),
})

const images = /\.(?:png|jpe?g|gif|bmp|tiff|ico|webp|svg)$/i

/** Keeps a file in the repository of a wiki, below `uploads/`, where pages can link to it. */
export async function addAttachment(
  ctx: Ctx,
  wiki: Wiki,
  file: UploadedFile,
): Promise<z.input<typeof attachmentEntity>> {
  if (file.size > ctx.config.maxBlob) throw badParameters('file is too large')
  const name = plainName(file.filename)
  const path = `uploads/${randomBytes(16).toString('hex')}/${name}`
  const branch = await addFile(ctx, wiki, path, await readFile(file.path))
  const isImage = images.test(name)
  const sign = isImage ? '!' : ''
  const label = isImage ? name.replace(/\.[^.]*$/, '') : name
  return {
    file_name: name,
    file_path: path,
    branch,
    link: { url: path, markdown: `${sign}[${label}](${path})` },
  }
}

/** A name that is safe in trees, addresses and Markdown. */
function plainName(filename: string): string {
  const last = filename.toWellFormed().split(/[/\\]/).at(-1) ?? ''
  const plain = last.replaceAll(/[^\p{L}\p{N}._-]+/gu, '_').replace(/^[._-]+/, '')
  const dot = plain.lastIndexOf('.')
  const extension = dot > 0 ? plain.slice(dot).slice(0, 20) : ''
  const bare = dot > 0 ? plain.slice(0, dot) : plain
  return `${bare.slice(0, 60) || 'file'}${extension}`
}
