/** What may stand before the fence of a block inside of lists and quotes. */
const FENCE = /^[\s>]*(?:(?:[-*+]|\d{1,9}[.)])[\s>]+)*(`{3,}(?=[^`]*$)|~{3,})/

interface Part {
  readonly text: string
  readonly code: boolean
}

/** Text without what stands in code: fenced blocks, then inline code. In time that grows with its length. */
export function withoutCode(text: string): string {
  return partsOf(text)
    .map((part) => (part.code ? '' : part.text))
    .join('')
}

/** The text with what stands outside of code changed. */
export function changeOutsideCode(text: string, change: (plain: string) => string): string {
  return partsOf(text)
    .map((part) => (part.code ? part.text : change(part.text)))
    .join('')
}

/** A text in its parts, which joined are the text again. */
function partsOf(text: string): Part[] {
  if (!/[`~]/.test(text)) return [{ text, code: false }]
  return blocksOf(text).flatMap((block) =>
    block.code ? [block] : block.text.split(/(?<=\n)(?=[^\S\n]*\n)/).flatMap(inlineParts),
  )
}

/** Fenced blocks, and what is between them. */
function blocksOf(text: string): Part[] {
  const blocks: { lines: string[]; code: boolean }[] = []
  let fence = ''
  for (const line of text.split(/(?<=\n)/)) {
    const code = fence !== '' || FENCE.test(line.trimEnd())
    // Closed by as many of the same marks, or more, and nothing behind them.
    const closes = fence !== '' && /^[\s>]*(`{3,}|~{3,})\s*$/.exec(line)?.[1]?.startsWith(fence)
    fence = closes ? '' : fence || (FENCE.exec(line.trimEnd())?.[1] ?? '')
    const last = blocks.at(-1)
    if (last?.code === code) last.lines.push(line)
    else blocks.push({ lines: [line], code })
  }
  return blocks.map(({ lines, code }) => ({ text: lines.join(''), code }))
}

/** Inline code ends at the next run of as many backquotes as it begins with; without one the run is text. */
function inlineParts(paragraph: string): Part[] {
  const runs = [...paragraph.matchAll(/`+/g)]
  const nextOfLength = new Map<number, number>()
  const ends = new Array<number | undefined>(runs.length)
  for (let at = runs.length - 1; at >= 0; at--) {
    const length = runs[at]?.[0].length ?? 0
    ends[at] = nextOfLength.get(length)
    nextOfLength.set(length, at)
  }
  const parts: Part[] = []
  let from = 0
  for (let at = 0; at < runs.length; at++) {
    const end = ends[at]
    const [open, close] = [runs[at], end === undefined ? undefined : runs[end]]
    if (!open || !close || end === undefined) continue
    const behind = close.index + close[0].length
    parts.push({ text: paragraph.slice(from, open.index), code: false })
    parts.push({ text: paragraph.slice(open.index, behind), code: true })
    from = behind
    at = end
  }
  return [...parts, { text: paragraph.slice(from), code: false }]
}
