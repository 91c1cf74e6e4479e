import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import type { FileAt } from '../../git/history/file.ts'

export const fileEntity = z.strictObject({
  file_name: z.string(),
  file_path: z.string(),
  size: z.int(),
  encoding: z.literal('base64'),
  content_sha256: z.string(),
  ref: z.string(),
  blob_id: z.string(),
  commit_id: z.string(),
  last_commit_id: z.string(),
  execute_filemode: z.boolean(),
  content: z.string(),
})

/** Everything about a file but its content; `ref` as the caller gave it. */
export function presentFile(
  file: FileAt,
  ref: string,
): Omit<z.input<typeof fileEntity>, 'content'> {
  return {
    file_name: file.name,
    file_path: file.path,
    size: file.size,
    encoding: 'base64',
    content_sha256: file.sha256,
    ref,
    blob_id: file.blobId,
    commit_id: file.commitId,
    last_commit_id: file.lastCommitId,
    execute_filemode: file.mode === '100755',
  }
}

/** The same as headers, under every vendor name (docs/contract/B-resolved §3). */
export function fileHeaders(
  ctx: Pick<Ctx, 'config'>,
  file: FileAt,
  ref: string,
): Record<string, string> {
  const fields = presentFile(file, ref)
  return ctx.config.vendor.headers({
    'File-Name': headerText(fields.file_name),
    'File-Path': headerText(fields.file_path),
    Size: String(fields.size),
    Encoding: fields.encoding,
    'Content-Sha256': fields.content_sha256,
    Ref: headerText(fields.ref),
    'Blob-Id': fields.blob_id,
    'Commit-Id': fields.commit_id,
    'Last-Commit-Id': fields.last_commit_id,
    'Execute-Filemode': String(fields.execute_filemode),
  })
}

/** Names as bytes of UTF-8, which is what header values are; what would break the header is percent-encoded. */
function headerText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get into a header
  const safe = text.replace(/[\x00-\x1f\x7f]/g, (found) => encodeURIComponent(found))
  return Buffer.from(safe, 'utf8').toString('latin1')
}
