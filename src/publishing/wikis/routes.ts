import { z } from 'zod'
import type { Access } from '../../access/subjects.ts'
import { notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import { GitError } from '../../git/error.ts'
import { resolveRevision } from '../../git/objects/revision.ts'
import type { Repo } from '../../git/repo.ts'
import type { ObjectId } from '../../git/types.ts'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { file, flag, hash, oneOf, text } from '../../http/params.ts'
import { addAttachment, attachmentEntity } from './attachments.ts'
import { changePage, createPage, removePage } from './edit.ts'
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

/** Whose wikis: projects or groups. */
interface WikiRoutes {
  /** `/projects/:id/wikis` */
  readonly path: string
  readonly of: string
  readonly read: Access<{ readonly wiki: (ctx: Ctx) => Wiki }>
  readonly write: Access<{ readonly wiki: (ctx: Ctx) => Wiki }>
}

const slugs = { slug: text({ max: 4096 }) }
const frontMatter = hash({ title: text({ max: 255 }).nullish() })

function missing() {
  return notFound('Wiki Page')
}

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

/** The endpoints of wikis (docs/contract/D §1.2 wikis), for projects and groups alike. */
export function wikiEndpoints({ path, of, read, write }: WikiRoutes): Endpoint[] {
  const tags = ['wikis']
  const one = `${path}/:slug`
  return [
    endpoint({
      method: 'GET',
      path,
      summary: `List the wiki pages of a ${of}`,
      tags,
      access: read,
      query: { with_content: flag().optional() },
      response: z.array(listedPageEntity),
      async handler({ ctx, wiki: wikiOf, query, request }) {
        const wiki = wikiOf(ctx)
        const at = await wikiTip(ctx, wiki)
        if (!at) return []
        const pages = await listPages(at.repo, at.tip, request.signal)
        if (!query.with_content) return pages.map(presentPageName)
        const found: PageEntity[] = []
        for (const page of pages) found.push(await presentPage(ctx, wiki, { repo: at.repo, page }))
        return found
      },
    }),
    endpoint({
      method: 'GET',
      path: one,
      summary: `Get a wiki page of a ${of}`,
      tags,
      access: read,
      params: slugs,
      query: { version: text({ max: 100 }).optional(), render_html: flag().optional() },
      response: pageEntity,
      async handler({ ctx, wiki: wikiOf, params, query, request }) {
        const wiki = wikiOf(ctx)
        const at = await wikiTip(ctx, wiki)
        if (!at) throw missing()
        const commit = query.version ? await versionOf(at.repo, query.version) : at.tip
        const page = await findPage(at.repo, commit, params.slug, request.signal)
        if (!page) throw missing()
        return await presentPage(ctx, wiki, { repo: at.repo, page, render: query.render_html })
      },
    }),
    endpoint({
      method: 'POST',
      path,
      summary: `Add a page to the wiki of a ${of}`,
      tags,
      access: write,
      body: {
        title: text(),
        content: text({ max: 64 * 1024 * 1024 }),
        format: oneOf(FORMATS).optional(),
        front_matter: frontMatter.optional(),
      },
      response: pageEntity,
      status: 201,
      async handler({ ctx, wiki: wikiOf, body }) {
        const wiki = wikiOf(ctx)
        const slug = await createPage(ctx, wiki, {
          title: body.title,
          content: body.content,
          format: body.format ?? 'markdown',
          frontMatter: asFrontMatter(body.front_matter),
        })
        return await readPage(ctx, wiki, slug)
      },
    }),
    endpoint({
      method: 'PUT',
      path: one,
      summary: `Change or rename a wiki page of a ${of}`,
      tags,
      access: write,
      params: slugs,
      body: {
        title: text().optional(),
        content: text({ max: 64 * 1024 * 1024 }).optional(),
        format: oneOf(FORMATS).optional(),
        front_matter: frontMatter.optional(),
      },
      check: oneOfThem,
      response: pageEntity,
      async handler({ ctx, wiki: wikiOf, params, body }) {
        const wiki = wikiOf(ctx)
        const slug = await changePage(ctx, wiki, params.slug, {
          title: body.title,
          content: body.content,
          format: body.format,
          frontMatter: asFrontMatter(body.front_matter),
        })
        return await readPage(ctx, wiki, slug)
      },
    }),
    endpoint({
      method: 'DELETE',
      path: one,
      summary: `Delete a wiki page of a ${of}`,
      tags,
      access: write,
      params: slugs,
      handler: ({ ctx, wiki, params }) => removePage(ctx, wiki(ctx), params.slug),
    }),
    endpoint({
      method: 'POST',
      path: `${path}/attachments`,
      summary: `Upload a file into the wiki of a ${of}`,
      tags,
      access: write,
      body: { file: file(), branch: text({ max: 1024 }).optional() },
      response: attachmentEntity,
      status: 201,
      handler: ({ ctx, wiki, body }) => addAttachment(ctx, wiki(ctx), body.file),
    }),
  ]
}

function oneOfThem(sent: ReadonlySet<string>): string[] {
  const names = ['title', 'content', 'format', 'front_matter']
  if (names.some((name) => sent.has(name))) return []
  return [`${names.join(', ')} are missing, at least one parameter must be provided`]
}
