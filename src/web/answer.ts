import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { type ComponentChildren, h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { Bytes, RequestFacts } from '../http/endpoint.ts'
import { type RefusedForm, ShownProvider } from './context.ts'
import { type PageCtx, shownOf } from './page-ctx.ts'
import { Document } from './shell/document.tsx'
import { navigationOf } from './shell/navigation.ts'

interface Drawn {
  readonly title: string
  readonly body: ComponentChildren
  readonly refused: RefusedForm | null
  readonly status?: number
}

/** What a browser may do with a page of ours: load our own files, and nothing else. */
const POLICY = `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`

/** The policy of a page whose form may be answered by a redirect to `source`: browsers hold those against it too. */
export function policyLeadingTo(source: string): string {
  return POLICY.replace("form-action 'self'", `form-action 'self' ${source}`)
}

export const pageSecurity: Readonly<Record<string, string>> = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'same-origin',
  'X-Frame-Options': 'DENY',
  'X-Content-Type-Options': 'nosniff',
}

/** A whole page: the shell around its body. */
export async function answerPage(ctx: PageCtx, drawn: Drawn): Promise<Bytes> {
  const shown = await shownOf(ctx, drawn.refused)
  const navigation = await navigationOf(ctx)
  const document = h(Document, { title: drawn.title, navigation, children: drawn.body })
  const html = `<!doctype html>${renderToString(h(ShownProvider, { value: shown, children: document }))}`
  return await answerHtml(ctx, html, drawn.status ?? drawn.refused?.status ?? 200)
}

/** A part of a page, which a page loads or a live page replaces. */
export async function answerFragment(
  ctx: PageCtx,
  body: ComponentChildren,
  address = ctx.address,
): Promise<Bytes> {
  // A part that only follows what happens must not take what the next page has to say.
  const isAfterForm = ctx.request.headers['x-after-form'] !== undefined
  const shown = { ...(await shownOf(ctx, null, isAfterForm)), address }
  return await answerHtml(
    ctx,
    renderToString(h(ShownProvider, { value: shown, children: body })),
    200,
  )
}

const gzipped = promisify(gzip)
const brotlied = promisify(brotliCompress)
/** Shorter answers fit into one packet anyway. */
const LEAST_PACKED = 1400

async function answerHtml(ctx: PageCtx, html: string, status: number): Promise<Bytes> {
  const type = 'text/html; charset=utf-8'
  const tag = `W/"${createHash('sha256').update(html).digest('base64url').slice(0, 27)}"`
  const headers = {
    ...pageSecurity,
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept-Encoding, Cookie',
    ...ctx.headers,
  }
  if (status !== 200)
    return { type, status, headers, ...(await packed(ctx.request, html, headers)) }
  const withTag = { ...headers, ETag: tag }
  if (ctx.request.headers['if-none-match'] === tag && ctx.headers['Set-Cookie'] === undefined) {
    return { type, status: 304, headers: withTag, body: '' }
  }
  return { type, status, ...(await packed(ctx.request, html, withTag)) }
}

async function packed(
  request: RequestFacts,
  html: string,
  headers: Readonly<Record<string, string>>,
): Promise<Pick<Bytes, 'body' | 'headers'>> {
  const accepted = String(request.headers['accept-encoding'] ?? '')
  if (html.length < LEAST_PACKED) return { body: html, headers }
  if (/\bbr\b/.test(accepted)) {
    const params = { [constants.BROTLI_PARAM_QUALITY]: 4 }
    return {
      body: await brotlied(html, { params }),
      headers: { ...headers, 'Content-Encoding': 'br' },
    }
  }
  if (/\bgzip\b/.test(accepted)) {
    return { body: await gzipped(html), headers: { ...headers, 'Content-Encoding': 'gzip' } }
  }
  return { body: html, headers }
}
