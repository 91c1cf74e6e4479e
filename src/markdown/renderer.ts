import { createHash } from 'node:crypto'
import { createRequire } from 'node:module'
import { Worker } from 'node:worker_threads'
import { byteCache } from '../base/byte-cache.ts'
import { unprocessable } from '../base/problem.ts'
import { workerCode } from './worker-code.ts'

/** A text that is a link wherever it stands. */
export interface LinkedText {
  readonly text: string
  readonly url: string
  /** What is shown instead, such as a label's title without its sign. */
  readonly shown?: string
}

export interface MarkdownJob {
  readonly text: string
  readonly references: readonly LinkedText[]
  /** Addresses of this server, with the short form of what they lead to. */
  readonly addresses: readonly (readonly [string, string])[]
  /** Where links without a scheme lead; null leaves them as they are. */
  readonly place: {
    readonly base: string
    readonly uploads: string
    readonly ref: string | null
  } | null
  /** Links that begin with it stay in the window. */
  readonly own: string
  /** One line, without paragraphs. */
  readonly inline: boolean
}

const find = createRequire(import.meta.url).resolve
const libraries = {
  library: find('markdown-it'),
  emoji: find('markdown-it-emoji'),
  footnote: find('markdown-it-footnote'),
  longest: 8_000_000,
}

/** Most characters of one text, and the milliseconds that it may take. */
export const longestMarkdown = 1_000_000
const timeoutMs = 3000
const memoryMb = 128
/** A worker that has had nothing to do for so long goes. */
const idleMs = 60_000
/** Texts that wait for their turn; more are refused. */
const mostWaiting = 500
/** Texts beyond this have a worker of their own, so that the many short ones need not wait for them. */
const shortText = 20_000

interface Waiting {
  readonly job: MarkdownJob
  resolve(html: string): void
  reject(error: Error): void
}

/** One worker, which is given one text after another; one that takes too long ends the worker, not the server. */
class MarkdownRenderer {
  readonly #waiting: Waiting[] = []
  #worker: Worker | undefined
  #current: Waiting | undefined
  #timer: NodeJS.Timeout | undefined

  render(job: MarkdownJob): Promise<string> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length >= mostWaiting) return reject(problem('cannot be rendered now'))
      this.#waiting.push({ job, resolve, reject })
      this.#next()
    })
  }

  #next(): void {
    if (this.#current) return
    clearTimeout(this.#timer)
    const next = this.#waiting.shift()
    if (!next) {
      this.#timer = setTimeout(() => this.#drop(), idleMs).unref()
      return
    }
    this.#current = next
    const worker = this.#started()
    worker.ref()
    this.#timer = setTimeout(() => this.#fail('took too long to render'), timeoutMs)
    worker.postMessage({ id: 0, ...next.job })
  }

  #started(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(workerCode, {
      eval: true,
      workerData: libraries,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    })
    worker.on('message', (answer: { html?: string; error?: string }) => {
      if (worker !== this.#worker) return
      const { html } = answer
      if (html === undefined) this.#settle((one) => one.reject(problem('cannot be rendered')))
      else this.#settle((one) => one.resolve(html))
    })
    // Out of memory, above all.
    worker.on('error', () => worker === this.#worker && this.#fail('cannot be rendered'))
    this.#worker = worker
    return worker
  }

  #fail(why: string): void {
    this.#drop()
    this.#settle((one) => one.reject(problem(why)))
  }

  #drop(): void {
    const worker = this.#worker
    this.#worker = undefined
    void worker?.terminate()
  }

  #settle(end: (one: Waiting) => void): void {
    const current = this.#current
    this.#current = undefined
    this.#worker?.unref()
    if (current) end(current)
    this.#next()
  }
}

function problem(why: string): Error {
  return unprocessable(`The text ${why}.`)
}

const short = new MarkdownRenderer()
const long = new MarkdownRenderer()

/** HTML by all that it is made of: the text, and what was looked up for it. */
const known = byteCache<string>(32 * 1024 * 1024, (html) => html.length * 2, 1024 * 1024)

/** Markdown as HTML that may be shown as it is: without scripts, raw HTML or links that run anything. */
export async function renderHtml(job: MarkdownJob): Promise<string> {
  const key = createHash('sha256').update(JSON.stringify(job)).digest('base64')
  const html = known.get(key)
  if (html !== undefined) return html
  const fresh = await (job.text.length > shortText ? long : short).render(job)
  known.set(key, fresh)
  return fresh
}
