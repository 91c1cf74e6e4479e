/** What may stand before the fence of a block inside of lists and quotes. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[\s>]+)*(`{3,}(?=[^`]*$)|~{3,})/

/** Text without what stands in code: fenced blocks, then inline code. In time that grows with its length. */
export function withoutCode(text: string): string {
  if (!/[`~]/.test(text)) return text
  return withoutFenced(text)
    .split(/\n(?=[^\S\n]*\n)/)
    .map(withoutInline)
    .join('\n')
}

function withoutFenced(text: string): string {
  let fence = ''
  return text
    .split('\n')
    .filter((line) => {
      if (fence === '') {
        fence = FENCE.exec(line)?.[1] ?? ''
        return fence === ''
      }
      // Closed by as many of the same marks, or more, and nothing behind them.
      const mark = /^[\s>]*(`{3,}|~{3,})\s*$/.exec(line)?.[1]
      if (mark?.startsWith(fence)) fence = ''
      return false
    })
    .join('\n')
}

/** Inline code ends at the next run of as many backquotes as it begins with; without one the run is text. */
function withoutInline(paragraph: string): string {
  const runs = [...paragraph.matchAll(/`+/g)]
  const nextOfLength = new Map<number, number>()
  const ends = new Array<number | undefined>(runs.length)
  for (let at = runs.length - 1; at >= 0; at--) {
    const length = runs[at]?.[0].length ?? 0
    ends[at] = nextOfLength.get(length)
    nextOfLength.set(length, at)
  }
  let plain = ''
  let from = 0
  for (let at = 0; at < runs.length; at++) {
    const end = ends[at]
    const [open, close] = [runs[at], end === undefined ? undefined : runs[end]]
    if (!open || !close || end === undefined) continue
    plain += paragraph.slice(from, open.index)
    from = close.index + close[0].length
    at = end
  }
  return plain + paragraph.slice(from)
}
