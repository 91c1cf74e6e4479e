import { createHash } from 'node:crypto'

/** A part of a merged text: lines that both sides agree on, or what each side has in their place. */
export type ConflictPart =
  | { readonly kind: 'same'; readonly text: string }
  | {
      readonly kind: 'conflict'
      /** The same for the same texts, whatever else of the file changes. */
      readonly id: string
      readonly ours: string
      readonly theirs: string
    }

/** What git marks conflicts with unless it is configured otherwise. */
export const usualMarker = 7

/** The longest lines of markers that git is asked for. */
const longestMarker = 10_000

/** How long a mark must be so that no line of these texts can pass for one of git's; undefined where none is. */
export function markerSize(texts: readonly string[]): number | undefined {
  const taken = new Set<number>()
  for (const text of texts) {
    for (const [run] of text.matchAll(/^(?:<+|=+|>+|\|+)/gm)) taken.add(run.length)
  }
  let size = usualMarker
  while (taken.has(size)) size += 1
  return size > longestMarker ? undefined : size
}

/**
 * Takes a text that git has merged apart at its marks, which no line of either side looks like. Undefined for one without a
 * conflict, or where the marks do not pair.
 */
export function splitConflicts(
  merged: string,
  size: number,
  sides: { readonly ours: string; readonly theirs: string },
): ConflictPart[] | undefined {
  const parts: ConflictPart[] = []
  const seen = new Map<string, number>()
  const texts = { same: '', ours: '', theirs: '' }
  const finish = () => {
    if (texts.same !== '') parts.push({ kind: 'same', text: texts.same })
    texts.same = ''
  }
  let state: State = 'same'
  for (const line of linesOf(merged)) {
    const sign = markOf(line, size)
    if (sign === undefined) {
      texts[state] += line
      continue
    }
    if (sign !== nextMark[state].sign) return undefined
    state = nextMark[state].to
    finish()
    if (sign !== '>') continue
    const { ours, theirs } = texts
    parts.push({ kind: 'conflict', id: idOf(ours, theirs, seen), ours, theirs })
    texts.ours = ''
    texts.theirs = ''
  }
  if (state !== 'same' || parts.length === 0) return undefined
  finish()
  return withoutAddedNewline(parts, sides)
}

type State = 'same' | 'ours' | 'theirs'

/** The mark that ends each state, and what follows it. */
const nextMark: Readonly<Record<State, { readonly sign: string; readonly to: State }>> = {
  same: { sign: '<', to: 'ours' },
  ours: { sign: '=', to: 'theirs' },
  theirs: { sign: '>', to: 'same' },
}

/** The sign of a mark of this size; undefined for any other line. */
function markOf(line: string, size: number): string | undefined {
  const [run = '', sign] = /^([<=>])\1*/.exec(line) ?? []
  if (run.length !== size) return undefined
  // The outer marks name a commit behind them, the one between stands alone.
  const isWhole = sign === '=' ? line.slice(size).trim() === '' : line[size] === ' '
  return isWhole ? sign : undefined
}

/** git ends every line before a mark: the last line of a side may have had no end. */
function withoutAddedNewline(
  parts: ConflictPart[],
  sides: { readonly ours: string; readonly theirs: string },
): ConflictPart[] {
  const last = parts.at(-1)
  if (last?.kind !== 'conflict') return parts
  const cut = (text: string, side: string) => {
    if (side.endsWith('\n') || !text.endsWith('\n')) return text
    const plain = text.slice(0, -1)
    return side.endsWith(plain) ? plain : plain.replace(/\r$/, '')
  }
  const ours = cut(last.ours, sides.ours)
  const theirs = cut(last.theirs, sides.theirs)
  return [...parts.slice(0, -1), { ...last, ours, theirs }]
}

function idOf(ours: string, theirs: string, seen: Map<string, number>): string {
  const hash = createHash('sha256')
    .update(JSON.stringify([ours, theirs]))
    .digest('hex')
  const id = hash.slice(0, 16)
  const before = seen.get(id) ?? 0
  seen.set(id, before + 1)
  return before === 0 ? id : `${id}-${before + 1}`
}

/** The lines of a text with their ends. */
export function linesOf(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}
