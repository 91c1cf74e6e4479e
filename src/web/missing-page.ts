import type { RequestHandler } from 'express'
import { endAnswer } from '../http/end-answer.ts'
import type { ApiAnswer } from '../http/pipeline-parts.ts'
import type { ApiRequest } from '../http/request.ts'

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Not found</title>
<style>body { font: 1rem/1.5 sans-serif; margin: 15vh auto; max-width: 30rem; padding: 0 1rem }</style>
<h1>404</h1>
<p>There is nothing at this address, or you may not see it without signing in.</p>
</html>
`
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
} as const
const JSON_BODY = '{"message":"404 Not Found"}'

/** Browsers say that they take HTML; programs get what the API says. */
function wantsPage(accept: string | readonly string[] | undefined): boolean {
  return String(accept ?? '').includes('text/html')
}

/** Answers what is no route of anybody's; stands behind everything else. */
export function missingPage(): RequestHandler {
  return (request, response) => {
    const page = wantsPage(request.headers.accept)
    const headers = page ? HEADERS : { ...HEADERS, 'Content-Type': 'application/json' }
    response.status(404)
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    const body = page ? PAGE : JSON_BODY
    endAnswer(request, response, request.method === 'HEAD' ? undefined : body)
  }
}

/** As the pipeline, with the page in place of the API's 404 for browsers. */
export function withMissingPage(
  handle: (request: ApiRequest) => Promise<ApiAnswer>,
): (request: ApiRequest) => Promise<ApiAnswer> {
  return async (request) => {
    const answer = await handle(request)
    const isPlain = String(answer.headers['Content-Type'] ?? '').startsWith('application/json')
    if (answer.status !== 404 || !isPlain || !wantsPage(request.headers.accept)) return answer
    return { ...answer, headers: { ...answer.headers, ...HEADERS }, body: PAGE }
  }
}
