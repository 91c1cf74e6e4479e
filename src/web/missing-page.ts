import type { RequestHandler } from 'express'
import { h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { Config } from '../base/config.ts'
import { endAnswer } from '../http/end-answer.ts'
import type { ApiAnswer } from '../http/pipeline-parts.ts'
import type { ApiRequest } from '../http/request.ts'
import { pageSecurity } from './answer.ts'
import { type Shown, ShownProvider } from './context.ts'
import { Document } from './shell/document.tsx'
import { ProblemView } from './shell/problem.tsx'

const JSON_BODY = '{"message":"404 Not Found"}'
const SWITCHED_OFF =
  'Pages are switched off on this server (GITSTEAD_PAGES); git and the API go on.\n'

type Answered = Pick<Config, 'externalUrl' | 'pages' | 'ssh'>

/** Browsers say that they take HTML; programs get what the API says. */
function wantsPage(accept: string | readonly string[] | undefined): boolean {
  return String(accept ?? '').includes('text/html')
}

/** What a browser is answered, and how: a page as all others, or one line where there are no pages. */
function missing(config: Answered): {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
} {
  const type = config.pages === 'off' ? 'text/plain' : 'text/html'
  return {
    body: config.pages === 'off' ? SWITCHED_OFF : drawn(config),
    headers: { ...pageSecurity, 'Content-Type': `${type}; charset=utf-8` },
  }
}

const known = new WeakMap<Answered, string>()

/** Who asks is not known here: it is the page that strangers see. */
function drawn(config: Answered): string {
  const before = known.get(config)
  if (before !== undefined) return before
  const { externalUrl } = config
  const shown: Shown = {
    basePath: new URL(externalUrl).pathname.replace(/\/$/, ''),
    externalUrl,
    hasSsh: config.ssh.isOffered,
    viewer: null,
    formToken: '',
    address: '/',
    refused: null,
    flash: null,
    broadcasts: [],
    secondFactorBy: null,
    calls: [],
    view: new Map(),
    requestId: '',
  }
  const children = h(ProblemView, { status: 404, requestId: '' })
  const document = h(Document, { title: '404', navigation: { destinations: [] }, children })
  const html = renderToString(h(ShownProvider, { value: shown, children: document }))
  known.set(config, `<!doctype html>${html}`)
  return `<!doctype html>${html}`
}

/** Answers what is no route of anybody's; stands behind everything else. */
export function missingPage(config: Answered): RequestHandler {
  return (request, response) => {
    const isPage = wantsPage(request.headers.accept) || config.pages === 'off'
    const page = isPage ? missing(config) : undefined
    const headers = page?.headers ?? { ...pageSecurity, 'Content-Type': 'application/json' }
    response.status(404)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    const body = page?.body ?? JSON_BODY
    endAnswer(request, response, request.method === 'HEAD' ? undefined : body)
  }
}

/** As the pipeline, with the page in place of the API's 404 for browsers. */
export function withMissingPage(
  handle: (request: ApiRequest) => Promise<ApiAnswer>,
  config: Answered,
): (request: ApiRequest) => Promise<ApiAnswer> {
  return async (request) => {
    const answer = await handle(request)
    const isPlain = String(answer.headers['Content-Type'] ?? '').startsWith('application/json')
    if (answer.status !== 404 || !isPlain || !wantsPage(request.headers.accept)) return answer
    const page = missing(config)
    return { ...answer, headers: { ...answer.headers, ...page.headers }, body: page.body }
  }
}
