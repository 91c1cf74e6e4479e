/** The metadata of twenty thousand versions has as many; a parser takes some tenths of a second for them. */
const MOST_PARTS = 60_000

/** Whether a parser may read this: few elements and attributes, and no document type, so that no entity is ever resolved. */
export function isSafeXml(text: string): boolean {
  if (/<!(DOCTYPE|ENTITY)/i.test(text)) return false
  let parts = 0
  for (const mark of ['<', '=']) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
      parts += 1
      if (parts > MOST_PARTS) return false
    }
  }
  return true
}
