import { createHash } from 'node:crypto'

/** One changed file, as the diffs of the API have it. */
export interface DiffFile {
  readonly old_path: string
  readonly new_path: string
  readonly new_file: boolean
  readonly renamed_file: boolean
  readonly deleted_file: boolean
  /** The hunks as git prints them. */
  readonly diff: string
  readonly too_large?: boolean
  readonly collapsed?: boolean
  readonly generated_file?: boolean
}

export interface DiffLine {
  readonly kind: 'hunk' | 'same' | 'added' | 'removed' | 'note'
  readonly text: string
  /** Number in the old and in the new file; of an added line the old one is that of the line after it. */
  readonly old: number
  readonly new: number
  /** Where the text differs from the line that it replaces or is replaced by: from, to. */
  readonly changed?: readonly [number, number]
}

/** The lines of a diff with their numbers. */
export function diffLines(diff: string): DiffLine[] {
  const lines: DiffLine[] = []
  let [old, now] = [0, 0]
  const texts = diff.split('\n')
  if (texts.at(-1) === '') texts.pop()
  for (const line of texts) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)/.exec(line)
    const text = line.slice(1)
    if (hunk) {
      ;[old, now] = [Number(hunk[1]), Number(hunk[2])]
      lines.push({ kind: 'hunk', text: line, old, new: now })
    } else if (lines.length === 0) {
      // `Binary files … differ` stands where hunks would.
      lines.push({ kind: 'note', text: line, old, new: now })
    } else if (line.startsWith('+')) lines.push({ kind: 'added', text, old, new: now++ })
    else if (line.startsWith('-')) lines.push({ kind: 'removed', text, old: old++, new: now })
    else if (line.startsWith('\\')) lines.push({ kind: 'note', text, old, new: now })
    else lines.push({ kind: 'same', text, old: old++, new: now++ })
  }
  return withWords(lines)
}

/** Marks what changed within lines, where as many lines came as went. */
function withWords(lines: readonly DiffLine[]): DiffLine[] {
  const marked = [...lines]
  for (let at = 0; at < lines.length; at++) {
    const gone = runOf(lines, at, 'removed')
    const come = runOf(lines, at + gone, 'added')
    if (gone > 0 && gone === come) {
      for (let i = at; i < at + gone; i++) {
        const [before, after] = [lines[i], lines[i + gone]]
        const [from, to] = between(before?.text ?? '', after?.text ?? '')
        if (!before || !after || from === undefined || to === undefined) continue
        marked[i] = { ...before, changed: [from, before.text.length - to] }
        marked[i + gone] = { ...after, changed: [from, after.text.length - to] }
      }
    }
    at += Math.max(gone + come - 1, 0)
  }
  return marked
}

function runOf(lines: readonly DiffLine[], from: number, kind: DiffLine['kind']): number {
  let count = 0
  while (lines[from + count]?.kind === kind) count++
  return count
}

/** Length of the common start and end of two lines; nothing where they have little in common. */
function between(a: string, b: string): readonly [number, number] | readonly [] {
  const most = Math.min(a.length, b.length)
  let start = 0
  while (start < most && a[start] === b[start]) start++
  let end = 0
  while (end < most - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  return (start + end) * 3 >= Math.max(a.length, b.length) ? [start, end] : []
}

/** One row of a view side by side. */
export interface DiffPair {
  readonly left: DiffLine | undefined
  readonly right: DiffLine | undefined
}

/** The lines as pairs: what went at the left of what came. */
export function sideBySide(lines: readonly DiffLine[]): DiffPair[] {
  const pairs: DiffPair[] = []
  for (let at = 0; at < lines.length; ) {
    const gone = runOf(lines, at, 'removed')
    const come = runOf(lines, at + gone, 'added')
    for (let i = 0; i < Math.max(gone, come); i++) {
      const left = i < gone ? lines[at + i] : undefined
      pairs.push({ left, right: i < come ? lines[at + gone + i] : undefined })
    }
    at += gone + come
    const line = lines[at]
    if (gone + come > 0 || !line) continue
    pairs.push({ left: line, right: line })
    at++
  }
  return pairs
}

/** The id of a file on its page: the one that its line codes begin with. */
export function fileId({
  new_path,
  old_path,
  deleted_file,
}: Pick<DiffFile, 'new_path' | 'old_path' | 'deleted_file'>): string {
  return createHash('sha1')
    .update(deleted_file ? old_path : new_path)
    .digest('hex')
}

/** The id of a line on its page: its line code. */
export function lineId(file: Parameters<typeof fileId>[0], line: DiffLine): string {
  return `${fileId(file)}_${line.old}_${line.new}`
}

/** How many lines a file gains and loses. */
export function countLines(lines: readonly DiffLine[]): { added: number; removed: number } {
  const count = (kind: DiffLine['kind']) => lines.filter((line) => line.kind === kind).length
  return { added: count('added'), removed: count('removed') }
}
