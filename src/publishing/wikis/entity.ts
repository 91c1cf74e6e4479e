import { z } from 'zod'
import type { Ctx } from '../../ctx.ts'
import type { Repo } from '../../git/repo.ts'
import { escapeHtml } from '../../markdown/escape-html.ts'
import { renderField } from '../../markdown/render.ts'
import { splitFrontMatter } from './front-matter.ts'
import { FORMATS } from './page-name.ts'
import { type Page, readPageText } from './pages.ts'
import type { Wiki } from './wiki.ts'

const basic = { format: z.enum(FORMATS), slug: z.string(), title: z.string() }

/** A page of a wiki (docs/contract/D §1.2 wikis). */
export const pageEntity = z.strictObject({
  ...basic,
  content: z.string(),
  encoding: z.string(),
  front_matter: z.record(z.string(), z.unknown()),
})

/** In lists the text comes when asked for. */
export const listedPageEntity = z.union([pageEntity, z.strictObject(basic)])

export type PageEntity = z.input<typeof pageEntity>

export function presentPageName(page: Page): z.input<z.ZodObject<typeof basic>> {
  return { format: page.format, slug: page.slug, title: page.title }
}

/** A page with its text, or with the HTML that it is shown as. */
export async function presentPage(
  ctx: Ctx,
  wiki: Wiki,
  given: { readonly repo: Repo; readonly page: Page; readonly render?: boolean | undefined },
): Promise<PageEntity> {
  const { page } = given
  const { frontMatter, content } = splitFrontMatter(await readPageText(given.repo, page))
  return {
    ...presentPageName(page),
    content: given.render ? await renderPage(ctx, wiki, page, content) : content,
    encoding: 'UTF-8',
    front_matter: frontMatter,
  }
}

/** Markdown is rendered; the other formats, and what is too large for it, are shown as they were written. */
async function renderPage(ctx: Ctx, wiki: Wiki, page: Page, content: string): Promise<string> {
  if (page.format === 'markdown') {
    return await renderField(ctx, content, wiki.projectPath, { relative: 'as_written' })
  }
  return `<pre><code>${escapeHtml(content)}</code></pre>`
}
