import { renderMarkdownText } from '../../discussions/markdown/endpoints.ts'
import { call } from '../../http/call/call.ts'
import { getRepositoryFile } from '../../repositories/files/endpoints.ts'
import type { PageCtx } from '../page-ctx.ts'
import { Icon } from '../parts/icon.tsx'
import { Markdown } from '../parts/markdown.tsx'
import type { ProjectData } from '../project/frame.tsx'
import type { Entry } from './files.tsx'
import type { Place } from './place.ts'

/** Longer files are shown by their own page alone. */
const LONGEST = 512 * 1024

export interface Readme {
  readonly name: string
  readonly path: string
  /** Rendered where it is Markdown. */
  readonly html: string | undefined
  readonly text: string
}

/** What a folder says of itself: the first of its files that is called README. */
export async function readReadme(
  ctx: PageCtx,
  project: ProjectData,
  place: Place,
  entries: readonly Entry[],
): Promise<Readme | undefined> {
  const found = entries.find(({ type, name }) => type === 'blob' && /^readme(\.|$)/i.test(name))
  if (!found) return undefined
  const path = { id: project.id, file_path: found.path }
  const file = await call(getRepositoryFile, ctx, { path, query: { ref: place.ref } })
  if (file.size > LONGEST) return undefined
  const text = Buffer.from(file.content, 'base64').toString('utf8')
  const isMarkdown = /\.(md|markdown|mkd)$/i.test(found.name)
  const html = isMarkdown ? await renderedIn(ctx, project, text) : undefined
  return { name: found.name, path: found.path, html, text }
}

/** Markdown of a project's file as HTML. */
export async function renderedIn(
  ctx: PageCtx,
  project: ProjectData,
  text: string,
): Promise<string> {
  const body = { text, gfm: true, project: project.path_with_namespace }
  return (await call(renderMarkdownText, ctx, { path: {}, body })).html
}

export function ReadmeView({ readme }: { readme: Readme }) {
  return (
    <section class="box readme" aria-label={readme.name}>
      <h2 class="box-head">
        <span>
          <Icon name="book" /> {readme.name}
        </span>
      </h2>
      <div class="box-body">
        {readme.html === undefined ? <pre>{readme.text}</pre> : <Markdown html={readme.html} />}
      </div>
    </section>
  )
}
