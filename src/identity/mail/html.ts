import { escapeHtml } from '../../markdown/escape-html.ts'

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
