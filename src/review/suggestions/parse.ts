/** A block of a comment that says how lines should read instead. */
export interface SuggestedBlock {
  /** Lines before the one that the comment stands at. */
  readonly above: number
  readonly below: number
  /** What they become, each line with its end; nothing when they shall go. */
  readonly content: string
}

// As many lines as a suggestion may reach beyond its own in either direction.
const furthest = 100
const mostBlocks = 100
const opening = /^ {0,3}(`{3,})suggestion(?::-(\d{1,4})\+(\d{1,4}))?[ \t]*$/

/** The blocks ```` ```suggestion:-1+2 ```` of a comment (docs/contract/D §1.11); one that never ends is none. */
export function findSuggestions(text: string): SuggestedBlock[] {
  const lines = text.split('\n').map((line) => line.replace(/\r$/, ''))
  const found: SuggestedBlock[] = []
  for (let at = 0; at < lines.length && found.length < mostBlocks; at += 1) {
    const open = opening.exec(lines[at] ?? '')
    const close = closingOf(lines, at)
    if (open && close !== undefined) {
      const content = lines.slice(at + 1, close).map((line) => `${line}\n`)
      const [above, below] = [open[2], open[3]].map((count) =>
        Math.min(Number(count ?? 0), furthest),
      )
      found.push({ above: above ?? 0, below: below ?? 0, content: content.join('') })
    }
    if (close !== undefined) at = close
  }
  return found
}

/** Where the block that a line opens ends; undefined when the line opens none, or none that ends. */
function closingOf(lines: readonly string[], at: number): number | undefined {
  const mark = /^ {0,3}(`{3,}|~{3,})/.exec(lines[at] ?? '')?.[1]
  if (mark === undefined) return undefined
  for (let end = at + 1; end < lines.length; end += 1) {
    const close = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(lines[end] ?? '')?.[1]
    if (close?.charAt(0) === mark.charAt(0) && close.length >= mark.length) return end
  }
  return undefined
}

/** A comment without its suggestions, for where those are shown by themselves. */
export function withoutSuggestions(text: string): string {
  const lines = text.split('\n')
  const plain = lines.map((line) => line.replace(/\r$/, ''))
  const kept: string[] = []
  for (let at = 0; at < lines.length; at += 1) {
    const close = closingOf(plain, at)
    const isSuggestion = close !== undefined && opening.test(plain[at] ?? '')
    if (!isSuggestion) kept.push(...lines.slice(at, (close ?? at) + 1))
    if (close !== undefined) at = close
  }
  return kept.join('\n')
}
