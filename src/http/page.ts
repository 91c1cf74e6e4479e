import { createHash } from 'node:crypto'
import { anyone } from '../access/subjects.ts'
import { type Bytes, bytes } from './endpoint.ts'

/** HTML whose texts are escaped already. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Piece = string | number | Html | null | undefined | false | readonly Html[]

/** Puts values into HTML: texts are escaped, other pieces of `html` are not. */
export function html(parts: TemplateStringsArray, ...values: readonly Piece[]): Html {
  return new Html(parts.map((part, index) => part + pieceOf(values[index])).join(''))
}

function pieceOf(value: Piece): string {
  if (value === null || value === undefined || value === false) return ''
  if (value instanceof Html) return value.text
  if (typeof value === 'object') return value.map((one) => one.text).join('\n')
  return escapeHtml(String(value))
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (sign) => ESCAPES[sign] ?? sign)
}

const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 26rem; margin: 4rem auto; padding: 0 1rem; color: #1f1e24; background: #fff }
h1 { font-size: 1.4rem }
label { display: block; margin: .75rem 0 .25rem }
input[type=text], input[type=password] { width: 100%; box-sizing: border-box; font: inherit; padding: .4rem .5rem; border: 1px solid #89888d; border-radius: 4px }
button { font: inherit; margin: 1rem .5rem 0 0; padding: .4rem 1rem; border: 1px solid #1f75cb; border-radius: 4px; background: #1f75cb; color: #fff; cursor: pointer }
button.quiet { background: #fff; color: #1f1e24; border-color: #89888d }
code { font-size: 1.2em; user-select: all }
[role=alert] { border-left: 4px solid #c91c00; padding: .25rem .75rem; background: #fcf1ef }
@media (prefers-color-scheme: dark) {
  body { color: #ececef; background: #18171d }
  input[type=text], input[type=password], button.quiet { background: #28272d; color: inherit }
  [role=alert] { background: #3a1a14 }
}
`

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

/** What endpoints declare that draw pages for people who may be signed in by their browser alone. */
export const forBrowsers = {
  host: true,
  ownSignIn: true,
  access: anyone(),
  status: 200,
  response: bytes('text/html'),
} as const

export interface PageOptions {
  readonly title: string
  readonly body: Html
  readonly status?: number | undefined
  /** Where, beside this server, a form's answer may lead: browsers hold redirects against the policy too. */
  readonly leadsTo?: string | undefined
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** A page drawn by the server: no script runs in it, nothing is loaded, nobody frames or keeps it. */
export function page(options: PageOptions): Bytes {
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${options.title}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>${options.title}</h1>
${options.body}
</main>
</body>
</html>
`
  return {
    type: 'text/html; charset=utf-8',
    body: document.text,
    status: options.status ?? 200,
    headers: { ...pageHeaders(options.leadsTo), ...options.headers },
  }
}

function pageHeaders(leadsTo: string | undefined): Record<string, string> {
  const action = leadsTo === undefined ? "'self'" : `'self' ${leadsTo}`
  return {
    'Content-Security-Policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action ${action}; base-uri 'none'; frame-ancestors 'none'`,
    'Cache-Control': 'no-store',
    'Referrer-Policy': 'same-origin',
    'X-Frame-Options': 'DENY',
  }
}

/** Sends the browser elsewhere. */
export function redirectTo(url: string, headers: Readonly<Record<string, string>> = {}): Bytes {
  return {
    type: 'text/plain; charset=utf-8',
    body: '',
    status: 302,
    headers: { Location: url, 'Cache-Control': 'no-store', ...headers },
  }
}
