import type { Ctx } from '../../ctx.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { answerForwarded, fetchForwarded, findUsable } from '../forwarding/cache.ts'
import { rootOf } from '../forwarding/forward.ts'
import { answerFetched } from '../upstreams/answer.ts'
import { checksumOf, isMetadata } from './path.ts'

const MOST_METADATA = 64 * 1024 * 1024

/** A file of the public registry. The checksum of one that is here is that of what is here. */
export async function answerForwardedArtifact(
  ctx: Ctx,
  path: string,
  request: RequestFacts,
): Promise<Bytes> {
  const checksum = checksumOf(path)
  const base = checksum && (await findUsable(ctx, { type: 'maven', path: checksum.of }))
  if (base) {
    const body = checksum.kind === 'sha1' ? base.file_sha1 : base.file_md5
    return { body, type: 'text/plain' }
  }
  const file = { type: 'maven', path } as const
  const url = `${rootOf(ctx, 'maven')}/${path.split('/').map(encodeURIComponent).join('/')}`
  if (!mayChange(path)) return await answerForwarded(ctx, file, request, async () => ({ url }))
  const wanted = { ...file, url, changes: true, maxSize: MOST_METADATA }
  return await answerFetched(ctx, await fetchForwarded(ctx, wanted), path, request)
}

/** Lists of versions do, and the builds of a version that is not released. */
function mayChange(path: string): boolean {
  return isMetadata(path.split('/').at(-1) ?? '') || path.includes('-SNAPSHOT/')
}
