import { userOf } from '../../access/actor.ts'
import { invalid, notFound } from '../../base/problem.ts'
import type { Ctx } from '../../ctx.ts'
import type { CommitAction } from '../../git/write/write-commit.ts'
import { commitEdit, type EditBase } from '../../repositories/commits/commit-edit.ts'
import { joinFrontMatter, splitFrontMatter } from './front-matter.ts'
import { movedTitle, pageOf, pathOfTitle, titleFaults, type WikiFormat } from './page-name.ts'
import { findPage, type Page, readPageText } from './pages.ts'
import { saveRename } from './queries.ts'
import { ensureWikiRepository, findWikiRepository, type Wiki } from './wiki.ts'

type FrontMatter = Readonly<Record<string, unknown>>

export interface NewPage {
  readonly title: string
  readonly content: string
  readonly format: WikiFormat
  readonly frontMatter?: FrontMatter | undefined
}

export interface PageChange {
  readonly title?: string | undefined
  readonly content?: string | undefined
  readonly format?: WikiFormat | undefined
  readonly frontMatter?: FrontMatter | undefined
}

/** Adds a page; gives its slug. */
export async function createPage(ctx: Ctx, wiki: Wiki, page: NewPage): Promise<string> {
  assertTitle(page.title)
  const path = pathOfTitle(page.title, page.format)
  const content = bytesOf(ctx, joinFrontMatter(page.frontMatter ?? {}, page.content))
  const slug = slugOf(path)
  await commitEdit(ctx, await ensureWikiRepository(ctx, wiki), async (state) => {
    if (await pageAt(state, slug)) throw duplicate()
    return {
      message: message(ctx, 'created', page.title),
      actions: [{ kind: 'create', path, content }],
    }
  })
  return slug
}

/** Changes a page, renames it or gives it another format; gives its slug. */
export async function changePage(
  ctx: Ctx,
  wiki: Wiki,
  slug: string,
  change: PageChange,
): Promise<string> {
  const repository = await findWikiRepository(ctx, wiki)
  if (!repository) throw missing()
  let result = slug
  await commitEdit(ctx, repository, async (state) => {
    const page = await pageAt(state, slug)
    if (!page) throw missing()
    const path = newPath(page, change)
    result = slugOf(path)
    if (result !== page.slug && (await pageAt(state, result))) throw duplicate()
    const content = bytesOf(ctx, await newText(state, page, change))
    const renamed = path === page.path ? undefined : { from: page.path, to: path }
    const action: CommitAction = renamed
      ? { kind: 'move', previousPath: page.path, path, content }
      : { kind: 'update', path, content }
    return {
      message: message(ctx, 'updated', change.title ?? page.title),
      actions: [action],
      record: renamed && ((ctx, pushId) => saveRename(ctx.db, pushId, renamed)),
    }
  })
  return result
}

export async function removePage(ctx: Ctx, wiki: Wiki, slug: string): Promise<void> {
  const repository = await findWikiRepository(ctx, wiki)
  if (!repository) throw missing()
  await commitEdit(ctx, repository, async (state) => {
    const page = await pageAt(state, slug)
    if (!page) throw missing()
    return {
      message: message(ctx, 'deleted', page.title),
      actions: [{ kind: 'delete', path: page.path }],
    }
  })
}

/** Puts a file into a wiki; gives the branch that it is on. */
export async function addFile(
  ctx: Ctx,
  wiki: Wiki,
  path: string,
  content: Buffer,
): Promise<string> {
  const repository = await ensureWikiRepository(ctx, wiki)
  await commitEdit(ctx, repository, async () => ({
    message: `Upload attachment ${path.slice(path.lastIndexOf('/') + 1)}`,
    actions: [{ kind: 'create', path, content }],
  }))
  return (await findWikiRepository(ctx, wiki))?.defaultBranch ?? ''
}

function assertTitle(title: string): void {
  const faults = titleFaults(title)
  if (faults.length > 0) throw invalid({ title: faults })
}

function newPath(page: Page, change: PageChange): string {
  const format = change.format ?? page.format
  if (change.title === undefined) {
    return format === page.format ? page.path : pathOfTitle(page.slug, format)
  }
  assertTitle(change.title)
  const path = pathOfTitle(movedTitle(page.slug, change.title), format)
  // A file may be called otherwise than we would: `Home page.markdown`.
  return slugOf(path) === page.slug && format === page.format ? page.path : path
}

/** Front matter that a change does not speak of stays. */
async function newText({ repo }: EditBase, page: Page, change: PageChange): Promise<string> {
  const before = splitFrontMatter(await readPageText(repo, page))
  const given = change.content ?? before.content
  const brought = splitFrontMatter(given)
  const hasOwn = Object.keys(brought.frontMatter).length > 0
  if (change.frontMatter) return joinFrontMatter(change.frontMatter, brought.content)
  return hasOwn ? given : joinFrontMatter(before.frontMatter, given)
}

function bytesOf(ctx: Pick<Ctx, 'settings'>, text: string): Buffer {
  const bytes = Buffer.from(text)
  const limit = ctx.settings.get('wiki_page_max_content_bytes')
  if (bytes.length <= limit) return bytes
  throw invalid({
    content: [`is too long (${bytes.length} bytes). The maximum size is ${limit} bytes.`],
  })
}

async function pageAt({ repo, tip }: EditBase, slug: string): Promise<Page | undefined> {
  return tip === undefined ? undefined : await findPage(repo, tip, slug)
}

function slugOf(path: string): string {
  return pageOf(path)?.slug ?? path
}

function message(ctx: Ctx, verb: string, title: string): string {
  return `${userOf(ctx.actor)?.username ?? ''} ${verb} page: ${title}`
}

/** 404 of a page that is not there. */
export function missing() {
  return notFound('Wiki Page')
}

function duplicate() {
  return invalid({ base: ['Duplicate page: A page with that title already exists'] })
}
