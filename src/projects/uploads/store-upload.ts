import { randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { userOf } from '../../access/actor.ts'
import type { Project } from '../../access/subjects.ts'
import { tooLarge } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { UploadedFile } from '../../http/params.ts'
import { insertUpload } from './queries.ts'

const IMAGE = /\.(png|jpe?g|gif|bmp|tiff?|ico|webp|svg)$/i

/** The last part of a name, with characters that are safe in any URL and header. */
export function safeName(filename: string): string {
  const base = filename.split(/[/\\]/).at(-1) ?? ''
  const safe = base
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}._-]+/gu, '_')
    .replace(/^\.+/, '')
  return [...safe].slice(-200).join('') || 'file'
}

/**
 * Keeps a file of a project under a secret that nobody can guess; gives how to link to it from Markdown (docs/contract/D §1.2
 * Rules).
 */
export async function storeUpload(ctx: Ctx, project: Project, file: UploadedFile) {
  const mostAsSet = ctx.settings.get('max_attachment_size') * 1024 * 1024
  if (file.size > Math.min(ctx.config.maxUpload, mostAsSet)) throw tooLarge()
  const stored = await ctx.files.put(createReadStream(file.path))
  const filename = safeName(file.filename)
  const secret = randomBytes(16).toString('hex')
  const id = await insertUpload(ctx.db, {
    source_type: 'project',
    source_id: project.id,
    secret,
    filename,
    file: stored.sha256,
    size: stored.size,
    content_type: file.contentType,
    uploaded_by_id: userOf(ctx.actor)?.id ?? null,
    created_at: ctx.now(),
  })
  const image = IMAGE.test(filename)
  const alt = image ? filename.replace(/\.[^.]+$/, '') : filename
  const url = `/uploads/${secret}/${encodeURIComponent(filename)}`
  return {
    id,
    alt,
    url,
    full_path: `/-/project/${project.id}${url}`,
    markdown: `${image ? '!' : ''}[${alt}](${url})`,
  }
}
