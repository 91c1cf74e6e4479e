import { escapeHtml } from '../../markdown/escape-html.ts'

/** One line of code: highlighted where that was made, else as it is. */
export function CodeLine({ html, text }: { html: string | undefined; text: string }) {
  if (html === undefined) return <code>{text}</code>
  // Made by src/markdown/highlight, which escapes the text
  return <code dangerouslySetInnerHTML={{ __html: html }} />
}

interface Code {
  readonly lines: readonly string[]
  readonly html: readonly string[] | undefined
}

/**
 * Numbered lines; each has an address, `#L10`, and so have several: `#L10-20`. They are written as one text, which takes a
 * fraction of what an element for each would. The break behind each is for whoever copies all of them.
 */
export function NumberedLines({ lines, html }: Code) {
  const rows = lines.map((line, index) => {
    const number = index + 1
    const code = html?.[index] ?? escapeHtml(line)
    return `<div class="line" id="L${number}"><a class="line-number" href="#L${number}" data-number="${number}"><span class="visually-hidden" title="Line ${number}"></span></a><code>${code}</code></div>\n`
  })
  return (
    <div
      class="lines"
      id="lines"
      data-lines
      // Numbers, and what src/markdown/highlight or the line above escapes
      dangerouslySetInnerHTML={{ __html: rows.join('') }}
    />
  )
}
