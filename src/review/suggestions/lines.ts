/** Lines of a text, each with its end, so that joining them gives the text again. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Lines `from` to `to`, counted from 1. */
export function cutLines(text: string, from: number, to: number): string {
  return linesOf(text)
    .slice(Math.max(from, 1) - 1, to)
    .join('')
}

/** A change of the lines `from` to `to`, counted from 1. */
export interface LineChange {
  readonly from: number
  readonly to: number
  readonly content: string
}

/** The text with changes that do not overlap; lines keep the kind of line end that the text has. */
export function changeLines(text: string, changes: readonly LineChange[]): string {
  const lines = linesOf(text)
  const windows = (lines[0] ?? '').endsWith('\r\n')
  const last = lines.length
  const open = last > 0 && !(lines[last - 1] ?? '').endsWith('\n')
  for (const { from, to, content } of changes.toSorted((a, b) => b.from - a.from)) {
    const ended = windows ? content.replaceAll(/\r?\n/g, '\r\n') : content
    // A last line without an end stays one.
    const kept = open && to >= last ? ended.replace(/\r?\n$/, '') : ended
    lines.splice(from - 1, to - from + 1, kept)
  }
  return lines.join('')
}

/** Whether two of the ranges share a line. */
export function overlap(ranges: readonly Pick<LineChange, 'from' | 'to'>[]): boolean {
  const sorted = ranges.toSorted((a, b) => a.from - b.from)
  return sorted.some((range, at) => at > 0 && (sorted[at - 1]?.to ?? 0) >= range.from)
}
