import type { Ctx } from '../../ctx.ts'
import type { Bytes, RequestFacts } from '../../http/endpoint.ts'
import { type Html, html, page } from '../../http/page.ts'
import { makeFormToken } from './form-token.ts'

/** What was wrong with a form, and the status of the answer that says so. */
export interface Refusal {
  readonly text: string
  readonly status: number
}

interface FormPage {
  readonly title: string
  /** Where the form is sent. */
  readonly action: string
  readonly body: Html
  readonly above?: Html
  readonly refusal?: Refusal | undefined
  readonly leadsTo?: string | undefined
}

/** A page with one form of ours. */
export function formPage(ctx: Ctx, request: RequestFacts, shown: FormPage): Bytes {
  const { title, action, body, above, refusal, leadsTo } = shown
  const form = makeFormToken(ctx, request)
  return page({
    title,
    status: refusal?.status,
    headers: form.headers,
    leadsTo,
    body: html`${refusal ? html`<p role="alert">${refusal.text}</p>` : above}
<form method="post" action="${action}">
${form.field}
${body}
</form>`,
  })
}
