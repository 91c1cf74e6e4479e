/** A table of texts, as far as a page shows one. */
export interface Table {
  readonly rows: readonly (readonly string[])[]
  /** There is more of it than is shown. */
  readonly isCut: boolean
}

const mostRows = 500
const mostColumns = 50

/** The rows of values between separators (RFC 4180), as many as a page shows. */
export function readTable(text: string, separator: ',' | '\t'): Table {
  const rows: string[][] = []
  let isCut = false
  let row: string[] = []
  let value = ''
  const endValue = () => {
    if (row.length < mostColumns) row.push(value)
    else isCut = true
    value = ''
  }
  const endRow = () => {
    endValue()
    rows.push(row)
    row = []
  }
  let at = 0
  for (; at < text.length && rows.length < mostRows; at += 1) {
    const sign = text[at]
    if (value === '' && sign === '"') {
      const end = endOfQuoted(text, at + 1)
      value = text.slice(at + 1, end).replaceAll('""', '"')
      at = end
    } else if (sign === separator) endValue()
    else if (sign === '\n') endRow()
    else if (sign !== '\r') value += sign
  }
  // A last line without its end is one too.
  if (value !== '' || row.length > 0) endRow()
  return { rows, isCut: isCut || at < text.length }
}

/** Where the quotation mark stands that ends a value: one that is not doubled. */
function endOfQuoted(text: string, from: number): number {
  let at = text.indexOf('"', from)
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2)
  return at < 0 ? text.length : at
}
