import type { Ctx } from '../../ctx.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { answerForwarded, fetchForwarded, type Wanted } from '../forwarding/cache.ts'
import { rootOf } from '../forwarding/forward.ts'
import { readInWorker, rewriteForwarded } from '../forwarding/rewritten.ts'
import { answerDocument } from '../registry/documents.ts'
import { UpstreamStatusError } from '../upstreams/ask.ts'
import type { Form } from './metadata.ts'
import { tarballName, versionInTarball } from './names.ts'
import type { ForwardedDist } from './read-forwarded.ts'

const module = new URL('./read-forwarded.ts', import.meta.url)
const MOST_METADATA = 64 * 1024 * 1024
const SHORT_TYPE = 'application/vnd.npm.install-v1+json'
const NOT_FOUND = 404

const encoded = (name: string) => name.replace('/', '%2f')

function metadataOf(ctx: Pick<Ctx, 'config'>, name: string, form: Form): Wanted {
  return {
    type: 'npm',
    path: form === 'short' ? `${name} short` : name,
    url: `${rootOf(ctx, 'npm')}/${encoded(name)}`,
    changes: true,
    accept: form === 'short' ? `${SHORT_TYPE}, application/json;q=0.5` : 'application/json',
    maxSize: MOST_METADATA,
  }
}

/** What the public registry says of a package, with tarballs at `root`, an address of ours. */
export async function answerForwardedMetadata(
  ctx: Ctx,
  { name, form, root }: { readonly name: string; readonly form: Form; readonly root: string },
  request: RequestFacts,
): Promise<Bytes> {
  const row = await fetchForwarded(ctx, metadataOf(ctx, name, form))
  const reader = { module, name: 'rewriteMetadata' }
  const document = await rewriteForwarded(ctx, row, reader, { name, root })
  return answerDocument(request, document, form === 'short' ? SHORT_TYPE : 'application/json')
}

/** A tarball of the public registry; kept only if it is what the metadata says. */
export async function answerForwardedTarball(
  ctx: Ctx,
  name: string,
  fileName: string,
  request: RequestFacts,
): Promise<Bytes> {
  const version = versionInTarball(name, fileName)
  if (version === undefined) throw new UpstreamStatusError(NOT_FOUND)
  const wanted = {
    type: 'npm',
    path: `${name}/-/${tarballName(name.split('/').at(-1) ?? '', version)}`,
    changes: false,
  } as const
  return await answerForwarded(ctx, wanted, request, async () => {
    const row = await fetchForwarded(ctx, metadataOf(ctx, name, 'short'))
    const dist = await readInWorker<ForwardedDist | 'none'>(
      ctx,
      row,
      { module, name: 'readDist' },
      { version },
    )
    if (dist === 'none') throw new UpstreamStatusError(NOT_FOUND)
    return dist
  })
}
