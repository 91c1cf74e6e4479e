import { LostFile } from '../../base/streams/lost-file.ts'
import type { Ctx } from '../../ctx.ts'
import { answerDownload } from '../../http/conditional-file.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'

/**
 * The bytes of a large file, whole or the range that the request asks for: downloads that broke off go on where they
 * stopped. `LostFile` when the store of files lost it.
 */
export async function answerLargeFile(
  ctx: Pick<Ctx, 'files'>,
  oid: string,
  request: Pick<RequestFacts, 'method' | 'headers'>,
  more: Readonly<Record<string, string>> = {},
): Promise<Bytes> {
  const size = await ctx.files.sizeOf(oid)
  if (size === undefined) throw new LostFile(oid)
  return await answerDownload(request, {
    size,
    etag: `"${oid}"`,
    type: 'application/octet-stream',
    headers: {
      'Cache-Control': 'private, max-age=0, must-revalidate',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "sandbox; default-src 'none'",
      ...more,
    },
    open: async (range) => (await ctx.files.open(oid, range)).body,
  })
}
