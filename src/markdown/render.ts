import { callerKey } from '../access/caller-key.ts'
import { badParameters, Problem } from '../base/problem.ts'
import type { Ctx } from '../ctx.ts'
import { escapeHtml } from './escape-html.ts'
import { findLinks } from './links.ts'
import { findPlace, type MarkdownPlace } from './queries.ts'
import { longestMarkdown, renderHtml } from './renderer.ts'

export interface MarkdownOptions {
  /** One line, without paragraphs. */
  readonly inline?: boolean
  /** Links without a scheme stay as they are, instead of leading into the repository. */
  readonly relative?: 'repository' | 'as_written'
}

/** What Markdown leaves as it is: a few plain words, which most descriptions are. */
const plain = /^[A-Za-z][A-Za-z0-9 ,()']*[A-Za-z0-9.,)]$/

/**
 * Markdown as safe HTML. In a project, mentions of what the caller may see become links, and links without a scheme lead
 * into its repository; what they may not see stays text, as if it were not there.
 */
export async function renderMarkdown(
  ctx: Ctx,
  text: string,
  project: string | MarkdownPlace | null = null,
  options: MarkdownOptions = {},
): Promise<string> {
  if (text.length > longestMarkdown) {
    throw badParameters(`text is too long (maximum is ${longestMarkdown} characters)`)
  }
  const inline = options.inline ?? false
  if (text.length < 1000 && plain.test(text)) return inline ? text : `<p>${text}</p>\n`
  const place = typeof project === 'string' ? await findPlace(ctx.db, project) : project
  const { externalUrl } = ctx.config
  const links = place ? await findLinks(ctx, text, place) : { references: [], addresses: [] }
  const isRelative = place && options.relative !== 'as_written'
  const job = {
    text,
    ...links,
    place: isRelative
      ? {
          base: `${externalUrl}/${place.full_path}`,
          uploads: `${externalUrl}/-/project/${place.id}`,
          ref: place.default_branch?.split('/').map(encodeURIComponent).join('/') ?? null,
        }
      : null,
    own: `${externalUrl}/`,
    inline,
  }
  return renderHtml(job, callerKey(ctx))
}

/** The same for a field of an answer, which must not fail: a text that cannot be rendered is shown as it was written. */
export async function renderField(
  ctx: Ctx,
  text: string | null,
  project: string | MarkdownPlace | null = null,
  options: MarkdownOptions = {},
): Promise<string> {
  if (text === null || text.trim() === '') return ''
  try {
    return await renderMarkdown(ctx, text, project, options)
  } catch (error) {
    if (!(error instanceof Problem)) throw error
    const escaped = escapeHtml(text)
    return options.inline ? escaped : `<p>${escaped}</p>`
  }
}
