import type { Response } from 'express'

const signs: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** A piece of HTML whose values were made harmless. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

function escaped(value: string | number | Html | readonly Html[]): string {
  if (value instanceof Html) return value.text
  if (Array.isArray(value)) return (value as readonly Html[]).map((one) => one.text).join('')
  return String(value).replaceAll(/[&<>"']/g, (sign) => signs[sign] ?? sign)
}

/** HTML with its values escaped, unless they are HTML themselves. */
export function html(
  parts: TemplateStringsArray,
  ...values: readonly (string | number | Html | readonly Html[])[]
): Html {
  return new Html(
    parts.map((part, at) => part + (at < values.length ? escaped(values[at] ?? '') : '')).join(''),
  )
}

const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:4rem auto;padding:0 1rem;color:#222}' +
  'label{display:block;margin:.75rem 0}input{display:block;width:100%;box-sizing:border-box;padding:.5rem;font:inherit}' +
  'button{padding:.5rem 1rem;font:inherit;margin:.5rem .5rem 0 0}.wrong{color:#a00}'

/** Sends a page that runs nothing, is framed by nobody, and sends forms only to us and where `formTo` says. */
export function sendPage(
  response: Response,
  page: {
    readonly title: string
    readonly body: Html
    readonly status?: number
    readonly formTo?: string
  },
): void {
  const policy = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `form-action 'self'${page.formTo ? ` ${page.formTo}` : ''}`,
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
  response
    .status(page.status ?? 200)
    .setHeader('Content-Security-Policy', policy)
    .setHeader('X-Content-Type-Options', 'nosniff')
    .setHeader('X-Frame-Options', 'DENY')
    .setHeader('Referrer-Policy', 'no-referrer')
    .setHeader('Cache-Control', 'no-store')
    .type('text/html')
  const { text } = html`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${page.title}</title>
<style>${new Html(STYLE)}</style>
<h1>${page.title}</h1>
${page.body}
</html>
`
  response.send(text)
}
