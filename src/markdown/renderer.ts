import { createHash } from 'node:crypto'
import { byteCache } from '../base/byte-cache.ts'
import { unprocessable } from '../base/problem.ts'
import { runInWorker, WorkerLimitError } from '../base/workers/worker-pool.ts'
import type { MarkdownJob } from './job.ts'

/** Most characters of one text, and the milliseconds that it may take. */
export const longestMarkdown = 1_000_000
const timeoutMs = 3000
/** The many texts that are shorter do not wait for those that are longer. */
const shortText = 20_000

/** HTML by all that it is made of: the text, and what was looked up for it. */
const known = byteCache<string>(32 * 1024 * 1024, (html) => html.length * 2, 1024 * 1024)

/** Markdown as HTML that may be shown as it is: without scripts, raw HTML or links that run anything. */
export async function renderHtml(job: MarkdownJob, caller: string | undefined): Promise<string> {
  const key = createHash('sha256').update(JSON.stringify(job)).digest('base64')
  const html = known.get(key)
  if (html !== undefined) return html
  const fresh = await renderFresh(job, caller)
  known.set(key, fresh)
  return fresh
}

async function renderFresh(job: MarkdownJob, caller: string | undefined): Promise<string> {
  const html = await runInWorker<MarkdownJob, string | undefined>(job, {
    module: new URL('./render-text.ts', import.meta.url),
    name: 'renderText',
    timeoutMs,
    isLong: job.text.length > shortText,
    caller,
  }).catch((error: unknown) => {
    throw unprocessable(`The text ${reasonOf(error)}.`)
  })
  if (html === undefined) throw unprocessable('The text cannot be rendered.')
  return html
}

function reasonOf(error: unknown): string {
  if (!(error instanceof WorkerLimitError)) return 'cannot be rendered'
  if (error.limit === 'time') return 'took too long to render'
  return error.limit === 'waiting' ? 'cannot be rendered now' : 'cannot be rendered'
}
