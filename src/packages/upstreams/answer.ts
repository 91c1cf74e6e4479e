import type { Ctx } from '../../ctx.ts'
import { answerDownload } from '../../http/conditional-file.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import type { Headers } from './ask.ts'

/** A file that was fetched; its bytes are in the file store. */
interface FetchedFile {
  readonly file_sha256: string
  readonly file_sha1: string
  readonly file_md5: string
  readonly size: number
  readonly content_type: string
}

/** Streams a file that was fetched, whole or in part. */
export async function answerFetched(
  ctx: Pick<Ctx, 'files'>,
  file: FetchedFile,
  path: string,
  request: Pick<RequestFacts, 'method' | 'headers'>,
): Promise<Bytes> {
  return await answerDownload(request, {
    size: file.size,
    etag: `"${file.file_sha256}"`,
    type: file.content_type,
    headers: {
      ...safeHeaders(path),
      ...checksumHeaders({ sha1: file.file_sha1, md5: file.file_md5 }),
    },
    open: async (range) => (await ctx.files.openOften(file.file_sha256, range)).body,
  })
}

/** The hashes of a file, as far as they are known. */
export function checksumHeaders({ sha1, md5 }: Headers['sums']): Record<string, string> {
  return {
    ...(sha1 === undefined ? {} : { 'x-checksum-sha1': sha1 }),
    ...(md5 === undefined ? {} : { 'x-checksum-md5': md5 }),
  }
}

/** What keeps browsers from running a file of another server. */
export function safeHeaders(path: string): Record<string, string> {
  const name = (path.split('/').at(-1) ?? '').replaceAll(/[^\w.+-]/g, '_')
  return {
    'Content-Disposition': `attachment; filename="${name}"`,
    'Content-Security-Policy': "sandbox; default-src 'none'",
  }
}
