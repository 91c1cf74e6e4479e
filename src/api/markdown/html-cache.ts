import { createHash } from 'node:crypto'

/** Most that is kept, in characters of HTML. */
const mostCharacters = 16_000_000
/** A text whose HTML is longer is rendered anew each time. */
const longestKept = 500_000

/** What a text, with everything that was looked up for it, becomes the same HTML again by. */
export function keyOf(job: object): string {
  return createHash('sha256').update(JSON.stringify(job)).digest('base64')
}

/** HTML that was rendered lately; what was not asked for longest goes first. */
export class HtmlCache {
  readonly #kept = new Map<string, string>()
  #characters = 0

  get(key: string): string | undefined {
    const html = this.#kept.get(key)
    if (html === undefined) return undefined
    this.#kept.delete(key)
    this.#kept.set(key, html)
    return html
  }

  set(key: string, html: string): void {
    if (html.length > longestKept || this.#kept.has(key)) return
    this.#kept.set(key, html)
    this.#characters += html.length
    for (const [oldest, gone] of this.#kept) {
      if (this.#characters <= mostCharacters) return
      this.#kept.delete(oldest)
      this.#characters -= gone.length
    }
  }
}
