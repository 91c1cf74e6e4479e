import { escapeHtml } from '../../markdown/escape-html.ts'

/** HTML that `markup` has written; no other text can pass for it. */
class Written {
  readonly #html: string
  constructor(html: string) {
    this.#html = html
  }
  toString(): string {
    return this.#html
  }
}

export type Markup = Written

type Value = string | number | Markup | readonly Markup[]

/**
 * HTML as one text, for what repeats by the hundred: elements of their own take several times as long. Each value that is put
 * into it is escaped, unless `markup` has written it too.
 */
export function markup(parts: TemplateStringsArray, ...values: readonly Value[]): Markup {
  let html = parts[0] ?? ''
  for (const [index, value] of values.entries()) html += textOf(value) + (parts[index + 1] ?? '')
  return new Written(html)
}

function textOf(value: Value): string {
  if (typeof value === 'string') return escapeHtml(value)
  if (value instanceof Written || typeof value === 'number') return String(value)
  return value.map(textOf).join('')
}
