/** One trailer of a commit message. */
export interface Trailer {
  readonly key: string
  readonly value: string
}

const SCISSORS = '# ------------------------ >8 ------------------------\n'
const GENERATED = ['Signed-off-by: ', '(cherry picked from commit '] as const

const SPACE = ' \t\n\r'
const SEPARATOR = /^(?:[A-Za-z0-9-]+[ \t]*|):/
const DIVIDER = /^---[ \t\n\r]/

/** The lines of `text`, each with its newline. */
function splitLines(text: string): string[] {
  return text.split(/(?<=\n)/).filter(Boolean)
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && SPACE.includes(character)
}

/** Takes git's white space from both ends; a regular expression would be quadratic here. */
function trim(text: string): string {
  let start = 0
  let end = text.length
  while (start < end && isSpace(text[start])) start++
  while (end > start && isSpace(text[end - 1])) end--
  return text.slice(start, end)
}

function isBlank(line: string): boolean {
  return trim(line) === ''
}

function separatorAt(line: string): number {
  const match = SEPARATOR.exec(line)
  return match ? match[0].length - 1 : -1
}

/** Where the part that git takes for the message ends: at the scissors line. */
function cutAtScissors(text: string): string {
  if (text.startsWith(SCISSORS)) return ''
  const at = text.indexOf(`\n${SCISSORS}`)
  return at < 0 ? text : text.slice(0, at + 1)
}

/**
 * The lines before a trailing run of comments, blank lines and an old `Conflicts:` block. A last line that had no newline
 * of its own (not `whole`) begins no such block.
 */
function withoutTrailingComments(text: string, whole: boolean): string[] {
  const kept = cutAtScissors(text)
  const lines = splitLines(kept)
  const complete = whole || kept.length < text.length
  // git keeps the start of the run as an offset where 0 means "none": a run from the first line does not count.
  let runStart = 0
  let inConflicts = false
  for (const [index, line] of lines.entries()) {
    if (line.startsWith('#') || line.startsWith('\n')) runStart ||= index
    else if (line.startsWith('Conflicts:\n') && (complete || index < lines.length - 1)) {
      inConflicts = true
      runStart ||= index
    } else if (!(inConflicts && line.startsWith('\t')) && runStart) {
      runStart = 0
      inConflicts = false
    }
  }
  return runStart ? lines.slice(0, runStart) : lines
}

function endOfTitle(lines: readonly string[]): number {
  const blank = lines.findIndex((line) => !line.startsWith('#') && isBlank(line))
  return blank < 0 ? lines.length : blank
}

type LineKind = 'comment' | 'generated' | 'trailer' | 'continuation' | 'text'

function kindOf(line: string): LineKind {
  if (line.startsWith('#')) return 'comment'
  if (GENERATED.some((prefix) => line.startsWith(prefix))) return 'generated'
  if (isSpace(line[0])) return 'continuation'
  return separatorAt(line) >= 1 ? 'trailer' : 'text'
}

/** Whether a paragraph is a block of trailers: the kinds of its lines, the last one first. */
function isTrailerBlock(kinds: readonly LineKind[]): boolean {
  let [trailers, others, continuations] = [0, 0, 0]
  for (const kind of kinds) {
    if (kind === 'continuation') {
      continuations += 1
      continue
    }
    if (kind === 'generated' || kind === 'trailer') trailers += 1
    else others += continuations + (kind === 'text' ? 1 : 0)
    continuations = 0
  }
  others += continuations
  if (kinds.includes('generated') && trailers * 3 >= others) return true
  return trailers > 0 && others === 0
}

/** The index of the first line of the trailer block, or the number of lines when there is none. */
function trailerStart(lines: readonly string[]): number {
  const title = endOfTitle(lines)
  const kinds: LineKind[] = []
  let onlySpaces = true
  for (let index = lines.length - 1; index >= title; index--) {
    const line = lines[index] ?? ''
    if (!line.startsWith('#') && isBlank(line)) {
      if (onlySpaces) continue
      return isTrailerBlock(kinds) ? index + 1 : lines.length
    }
    if (!line.startsWith('#')) onlySpaces = false
    kinds.push(kindOf(line))
  }
  return lines.length
}

/** Joins continuation lines to the trailer before them. */
function foldTogether(lines: readonly string[]): string[] {
  const items: string[] = []
  let lastIsTrailer = false
  for (const line of lines) {
    if (lastIsTrailer && isSpace(line[0])) {
      items[items.length - 1] += line
      continue
    }
    items.push(line)
    lastIsTrailer = separatorAt(line) >= 1
  }
  return items
}

function unfold(value: string): string {
  return trim(value.replace(/\n[ \t\n\r]*/g, ' '))
}

/**
 * The trailers of a commit message, exactly as `git interpret-trailers --parse` prints them
 * (git 2.39, trailer.c), in their order and with repeated keys kept. Linear in the message.
 */
export function parseTrailers(message: string): Trailer[] {
  const nul = message.indexOf('\0')
  let text = nul < 0 ? message : message.slice(0, nul)
  let whole = text.endsWith('\n')
  if (text !== '' && !whole) text += '\n'
  const all = splitLines(text)
  const divider = all.findIndex((line) => DIVIDER.test(line))
  if (divider >= 0) {
    text = all.slice(0, divider).join('')
    whole = true
  }
  const lines = withoutTrailingComments(text, whole)

  const trailers: Trailer[] = []
  for (const item of foldTogether(lines.slice(trailerStart(lines)))) {
    const separator = separatorAt(item)
    if (item.startsWith('#') || separator < 1) continue
    trailers.push({
      key: trim(item.slice(0, separator)),
      value: unfold(trim(item.slice(separator + 1))),
    })
  }
  return trailers
}

/** `trailers` of a commit object: one value for a key, the last one (docs/contract/B-resolved §1.8 rule 5). */
export function lastTrailers(trailers: readonly Trailer[]): Record<string, string> {
  return Object.fromEntries(trailers.map(({ key, value }) => [key, value]))
}

/** `extended_trailers` of a commit object: every value of a key, in order. */
export function groupedTrailers(trailers: readonly Trailer[]): Record<string, string[]> {
  const groups = new Map<string, string[]>()
  for (const { key, value } of trailers) {
    const values = groups.get(key)
    if (values) values.push(value)
    else groups.set(key, [value])
  }
  return Object.fromEntries(groups)
}
