import { buffer } from 'node:stream/consumers'
import { anyone, findVisibleGroup, findVisibleProject } from '../../access/subjects.ts'
import { hidden } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { streamBlob } from '../../git/objects/blob.ts'
import { findTreeEntry } from '../../git/objects/tree.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import { contentDisposition } from '../../http/content-disposition.ts'
import { bytes, endpoint } from '../../http/endpoint.ts'
import { text } from '../../http/params.ts'
import { imageType } from '../../identity/users/avatar/avatar.ts'
import { answerBlob } from '../../repositories/repository/raw.ts'
import { groupWiki, projectWiki } from './access.ts'
import { type Wiki, wikiTip } from './wiki.ts'

const HEAD_BYTES = 16

/** Attachments as pages of wikis link to them: `uploads/…` beside the page, seen from `…/-/wikis/`. */
export const hostWikiFiles = (['project', 'group'] as const).map((kind) =>
  endpoint({
    method: 'GET',
    host: true,
    session: true,
    path: `${kind === 'group' ? '/groups' : ''}/*path/-/wikis/uploads/:secret/:filename`,
    summary: 'Show a file that a wiki page links to',
    tags: ['files'],
    access: anyone(),
    params: { path: text(), secret: text(), filename: text() },
    response: bytes('application/octet-stream'),
    async handler({ ctx, params, request }) {
      const wiki = await findWiki(ctx, kind, params.path)
      const at = wiki?.mayRead ? await wikiTip(ctx, wiki) : undefined
      const path = `uploads/${params.secret}/${params.filename}`
      const entry = at && (await findTreeEntry(at.repo, { ref: at.tip, path }, request.signal))
      if (!at || entry?.type !== 'blob') throw hidden()
      // Only what is an image by its first bytes is shown in place: anything else could be a page of somebody's.
      const type = await imageTypeOf(at.repo, entry.id)
      const disposition = type === undefined ? 'attachment' : 'inline'
      const headers = { 'Content-Disposition': contentDisposition(disposition, params.filename) }
      const answer = await answerBlob(at.repo, entry.id, request, headers)
      return { ...answer, type: type ?? 'application/octet-stream' }
    },
  }),
)

async function findWiki(
  ctx: Ctx,
  kind: 'project' | 'group',
  path: string,
): Promise<Wiki | undefined> {
  // A number would be read as an id.
  if (/^-?\d+$/.test(path)) return undefined
  if (kind === 'group') {
    const group = await findVisibleGroup(ctx, path)
    return group && groupWiki(ctx, group)
  }
  const project = await findVisibleProject(ctx, path)
  return project && projectWiki(ctx, project)
}

async function imageTypeOf(repo: Repo, id: ObjectId): Promise<string | undefined> {
  const { body } = await streamBlob(repo, id, { start: 0, end: HEAD_BYTES - 1 })
  return imageType(await buffer(body))
}
