import { z } from 'zod'
import { anyone, getVisibleProject } from '../../access/subjects.ts'
import { endpoint } from '../../http/endpoint.ts'
import { flag, text } from '../../http/params.ts'
import { renderMarkdown } from '../../markdown/render.ts'

export const renderMarkdownText = endpoint({
  method: 'POST',
  path: '/markdown',
  summary: 'Render Markdown as HTML, with links to what it mentions when a project is named',
  access: anyone(),
  body: {
    text: text(),
    gfm: flag().optional(),
    project: text({ max: 1024 }).optional(),
  },
  response: z.strictObject({ html: z.string() }),
  async handler({ ctx, body }) {
    const project =
      body.project === undefined ? null : (await getVisibleProject(ctx, body.project)).full_path
    return { html: await renderMarkdown(ctx, body.text, body.gfm ? project : null) }
  },
})
