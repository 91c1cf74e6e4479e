import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import { endpoint } from '../../http/endpoint.ts'
import { atLeastOne, file, flag, hash, oneOf, text } from '../../http/params.ts'
import { onWiki } from './access.ts'
import { addAttachment, attachmentEntity } from './attachments.ts'
import { changePage, createPage, missing, removePage } from './edit.ts'
import {
  listedPageEntity,
  type PageEntity,
  pageEntity,
  presentPage,
  presentPageName,
} from './entity.ts'
import { FORMATS } from './page-name.ts'
import { findPage, listPages } from './pages.ts'
import { type Wiki, wikiTip } from './wiki.ts'

const path = '/:source/:id/wikis'
const one = '/:source/:id/wikis/:slug'
const slugs = { slug: text({ max: 4096 }) }
const frontMatter = hash({ title: text({ max: 255 }).nullish() })

/** A page as it stands, after a write or for reading. */
async function readPage(ctx: Ctx, wiki: Wiki, slug: string): Promise<PageEntity> {
  const at = await wikiTip(ctx, wiki)
  const page = at && (await findPage(at.repo, at.tip, slug))
  if (!page) throw missing()
  return await presentPage(ctx, wiki, { repo: at.repo, page })
}

/** A commit that a caller names by its id; anything else is no version. */
async function versionOf(repo: Repo, version: string): Promise<ObjectId> {
  if (!/^[0-9a-f]{7,64}$/i.test(version)) throw missing()
  try {
    return (await resolveRevision(repo, version.toLowerCase())).commitId
  } catch (error) {
    if (error instanceof GitError && error.code !== 'failed') throw missing()
    throw error
  }
}

/** What `front_matter[title]` asks for; a title of null takes it away. */
function asFrontMatter(given: { readonly title?: string | null | undefined } | undefined) {
  if (!given) return undefined
  return given.title ? { title: given.title } : {}
}

const oneOfThem = atLeastOne(['title', 'content', 'format', 'front_matter'])

export const listWikiPages = endpoint({
  method: 'GET',
  path,
  summary: 'List the wiki pages of a project or group',
  access: onWiki(),
  query: { with_content: flag().optional() },
  response: z.array(listedPageEntity),
  async handler({ ctx, wiki, query, request }) {
    const at = await wikiTip(ctx, wiki)
    if (!at) return []
    const pages = await listPages(at.repo, at.tip, request.signal)
    if (!query.with_content) return pages.map(presentPageName)
    const found: PageEntity[] = []
    for (const page of pages) found.push(await presentPage(ctx, wiki, { repo: at.repo, page }))
    return found
  },
})

export const getWikiPage = endpoint({
  method: 'GET',
  path: one,
  summary: 'Get a wiki page of a project or group',
  access: onWiki(),
  params: slugs,
  query: { version: text({ max: 100 }).optional(), render_html: flag().optional() },
  response: pageEntity,
  async handler({ ctx, wiki, params, query, request }) {
    const at = await wikiTip(ctx, wiki)
    if (!at) throw missing()
    const commit = query.version ? await versionOf(at.repo, query.version) : at.tip
    const page = await findPage(at.repo, commit, params.slug, request.signal)
    if (!page) throw missing()
    return await presentPage(ctx, wiki, { repo: at.repo, page, render: query.render_html })
  },
})

export const addWikiPage = endpoint({
  method: 'POST',
  path,
  summary: 'Add a page to the wiki of a project or group',
  access: onWiki('create_wiki'),
  body: {
    title: text(),
    content: text({ max: 64 * 1024 * 1024 }),
    format: oneOf(FORMATS).optional(),
    front_matter: frontMatter.optional(),
  },
  response: pageEntity,
  async handler({ ctx, wiki, body }) {
    const slug = await createPage(ctx, wiki, {
      ...body,
      format: body.format ?? 'markdown',
      frontMatter: asFrontMatter(body.front_matter),
    })
    return await readPage(ctx, wiki, slug)
  },
})

export const updateWikiPage = endpoint({
  method: 'PUT',
  path: one,
  summary: 'Change or rename a wiki page of a project or group',
  access: onWiki('create_wiki'),
  params: slugs,
  body: {
    title: text().optional(),
    content: text({ max: 64 * 1024 * 1024 }).optional(),
    format: oneOf(FORMATS).optional(),
    front_matter: frontMatter.optional(),
  },
  check: oneOfThem,
  response: pageEntity,
  async handler({ ctx, wiki, params, body }) {
    const frontMatter = asFrontMatter(body.front_matter)
    const slug = await changePage(ctx, wiki, params.slug, { ...body, frontMatter })
    return await readPage(ctx, wiki, slug)
  },
})

export const removeWikiPage = endpoint({
  method: 'DELETE',
  path: one,
  summary: 'Delete a wiki page of a project or group',
  access: onWiki('create_wiki'),
  params: slugs,
  handler: ({ ctx, wiki, params }) => removePage(ctx, wiki, params.slug),
})

export const uploadWikiFile = endpoint({
  method: 'POST',
  path: `${path}/attachments`,
  summary: 'Upload a file into the wiki of a project or group',
  access: onWiki('create_wiki'),
  body: { file: file() },
  response: attachmentEntity,
  handler: ({ ctx, wiki, body }) => addAttachment(ctx, wiki, body.file),
})
