import type { Ctx } from '../../ctx.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { answerForwarded, fetchForwarded, type Wanted } from '../forwarding/cache.ts'
import { rootOf } from '../forwarding/forward.ts'
import { readInWorker, rewriteForwarded } from '../forwarding/rewritten.ts'
import { answerDocument } from '../registry/documents.ts'
import { UpstreamStatusError } from '../upstreams/ask.ts'
import { namesInFile } from './names.ts'
import type { PageForm } from './page.ts'
import { PAGE_TYPES } from './pages.ts'
import type { ForwardedLocation } from './read-forwarded.ts'

const module = new URL('./read-forwarded.ts', import.meta.url)
const MOST_PAGE = 64 * 1024 * 1024
const NOT_FOUND = 404

/** By PEP 691: an index that has only pages for people is left to the clients. */
function pageOf(ctx: Pick<Ctx, 'config'>, nameKey: string): Wanted {
  return {
    type: 'pypi',
    path: `simple/${nameKey}/`,
    url: `${rootOf(ctx, 'pypi')}/simple/${encodeURIComponent(nameKey)}/`,
    changes: true,
    accept: PAGE_TYPES.json,
    maxSize: MOST_PAGE,
    mayKeep: ({ type }) => /^application\/(vnd\.pypi\.simple\.v1\+)?json\b/.test(type),
  }
}

/** What the public registry has of a name, with links to this server. */
export async function answerForwardedPage(
  ctx: Ctx,
  nameKey: string,
  form: PageForm,
  request: RequestFacts,
): Promise<Bytes> {
  const wanted = pageOf(ctx, nameKey)
  const row = await fetchForwarded(ctx, wanted)
  const root = request.url.slice(0, request.url.lastIndexOf('/simple/'))
  const options = { nameKey, root, form, base: wanted.url }
  const document = await rewriteForwarded(ctx, row, { module, name: 'rewritePage' }, options)
  return answerDocument(request, document, PAGE_TYPES[form])
}

interface NamedFile {
  readonly sha256: string
  readonly fileName: string
}

/** A file that such a page links to, or the metadata of one; kept only if it is what the registry says. */
export async function answerForwardedFile(
  ctx: Ctx,
  named: NamedFile,
  request: RequestFacts,
): Promise<Bytes> {
  const file = { type: 'pypi', path: `files/${named.sha256}/${named.fileName}` } as const
  return await answerForwarded(ctx, file, request, async () => {
    for (const nameKey of namesInFile(named.fileName)) {
      const found = await locate(ctx, nameKey, named)
      if (found !== 'none') return found
    }
    throw new UpstreamStatusError(NOT_FOUND)
  })
}

async function locate(ctx: Ctx, nameKey: string, named: NamedFile) {
  const wanted = pageOf(ctx, nameKey)
  const reader = { module, name: 'locateFile' }
  try {
    const page = await fetchForwarded(ctx, wanted)
    const options = { ...named, base: wanted.url }
    return await readInWorker<ForwardedLocation | 'none'>(ctx, page, reader, options)
  } catch (error) {
    if (error instanceof UpstreamStatusError && error.upstreamStatus === NOT_FOUND) return 'none'
    throw error
  }
}
