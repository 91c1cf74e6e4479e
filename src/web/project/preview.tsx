import { renderMarkdownText } from '../../discussions/markdown/endpoints.ts'
import { call } from '../../http/call/call.ts'
import { answerFragment } from '../answer.ts'
import { actForm } from '../form.ts'
import { Markdown } from '../parts/markdown.tsx'

/** What a text becomes before it is kept: rendered as where it will stand. */
export const previewForm = actForm({
  address: '/*project/-/preview_markdown',
  summary: 'Show what a text of Markdown becomes',
  async act({ ctx, path: { project }, fields: { text } }) {
    const body = { text, gfm: true, project }
    const { html } = await call(renderMarkdownText, ctx, { path: {}, body })
    return await answerFragment(ctx, <Markdown html={html} />)
  },
})
