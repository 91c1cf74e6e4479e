import { diffLines, type LineChange, LineNumbers, type Lines } from './line-diff.ts'

/** The merged text; `conflict`; or `unclear` where only git itself can tell. */
export type MergedText = Buffer | 'conflict' | 'unclear'

/** Larger texts are left to git, which compares lines faster. */
const mostBytes = 512 * 1024
/** git takes content with a NUL in its first bytes for binary (xdiff-interface.c). */
const binaryProbe = 8000

/** Whose change a part of the result is; `both`: of both, in different ways. */
type Side = 'ours' | 'theirs' | 'both'

/** A part of the result that is not the base's, and where it stands in both sides. */
interface Part {
  side: Side
  readonly oursStart: number
  oursCount: number
  readonly theirsStart: number
  theirsCount: number
}

/** Puts changes together; those that touch one another are one, and nobody's if the sides differ (xdl_append_merge). */
class Parts {
  readonly all: Part[] = []

  add(next: Part): void {
    const last = this.all.at(-1)
    const touches =
      last !== undefined &&
      (next.oursStart <= last.oursStart + last.oursCount ||
        next.theirsStart <= last.theirsStart + last.theirsCount)
    if (!touches) {
      this.all.push(next)
      return
    }
    if (next.side !== last.side) last.side = 'both'
    last.oursCount = next.oursStart + next.oursCount - last.oursStart
    last.theirsCount = next.theirsStart + next.theirsCount - last.theirsStart
  }
}

interface Sides {
  readonly base: Lines
  readonly ours: Lines
  readonly theirs: Lines
}

function sameLines(one: Lines, from: number, other: Lines, at: number, count: number): boolean {
  for (let n = 0; n < count; n += 1) if (one.ids[from + n] !== other.ids[at + n]) return false
  return true
}

/** Whether both sides did the same in the same place. */
function isSameChange(one: LineChange, other: LineChange, { ours, theirs }: Sides): boolean {
  return (
    one.oldStart === other.oldStart &&
    one.oldCount === other.oldCount &&
    one.newCount === other.newCount &&
    sameLines(ours, one.newStart, theirs, other.newStart, one.newCount)
  )
}

/** The part of two changes that overlap or touch, with what lies between them (xdl_do_merge). */
function overlap(one: LineChange, other: LineChange): Part {
  const before = one.oldStart - other.oldStart
  const after = before + one.oldCount - other.oldCount
  const oursStart = one.newStart - Math.max(before, 0)
  const theirsStart = other.newStart + Math.min(before, 0)
  return {
    side: 'both',
    oursStart,
    oursCount: one.newStart + one.newCount - oursStart - Math.min(after, 0),
    theirsStart,
    theirsCount: other.newStart + other.newCount - theirsStart + Math.max(after, 0),
  }
}

/** Whether a change ends before the next one of the other side begins, with a line between them. */
function isAlone(one: LineChange | undefined, other: LineChange | undefined): one is LineChange {
  return one !== undefined && (!other || endOf(one) < other.oldStart)
}

function endOf(change: LineChange): number {
  return change.oldStart + change.oldCount
}

/** How far lines of the base have moved in a side, before its next change. */
function shiftOf(next: LineChange | undefined, side: Lines, base: Lines): number {
  return next ? next.newStart - next.oldStart : side.ids.length - base.ids.length
}

function oursAlone(one: LineChange, shift: number): Part {
  const theirs = { theirsStart: one.oldStart + shift, theirsCount: one.oldCount }
  return { side: 'ours', oursStart: one.newStart, oursCount: one.newCount, ...theirs }
}

function theirsAlone(one: LineChange, shift: number): Part {
  const ours = { oursStart: one.oldStart + shift, oursCount: one.oldCount }
  return { side: 'theirs', ...ours, theirsStart: one.newStart, theirsCount: one.newCount }
}

/** What to do next: a part of the result, and which changes are behind us with it. */
interface Step {
  readonly part: Part | undefined
  readonly ours: boolean
  readonly theirs: boolean
}

function nextStep(
  one: LineChange | undefined,
  other: LineChange | undefined,
  sides: Sides,
): Step | undefined {
  const { base, ours, theirs } = sides
  if (isAlone(one, other)) {
    const part = oursAlone(one, shiftOf(other, theirs, base))
    return { part, ours: true, theirs: false }
  }
  if (isAlone(other, one)) {
    const part = theirsAlone(other, shiftOf(one, ours, base))
    return { part, ours: false, theirs: true }
  }
  if (!one || !other) return undefined
  const part = isSameChange(one, other, sides) ? undefined : overlap(one, other)
  const ahead = endOf(one) - endOf(other)
  return { part, ours: ahead <= 0, theirs: ahead >= 0 }
}

/** The changes of both sides in their order, as git's xdl_do_merge lines them up. */
function combine(mine: readonly LineChange[], others: readonly LineChange[], sides: Sides): Part[] {
  const parts = new Parts()
  let [m, o] = [0, 0]
  for (;;) {
    const step = nextStep(mine[m], others[o], sides)
    if (!step) return parts.all
    if (step.part) parts.add(step.part)
    if (step.ours) m += 1
    if (step.theirs) o += 1
  }
}

/** What becomes of a part that both sides changed: nothing to quarrel about when they came to the same. */
function judge(
  part: Part,
  { ours, theirs }: Sides,
  distinct: number,
): 'same' | 'conflict' | 'unclear' {
  if (part.oursCount === 0 || part.theirsCount === 0) return 'conflict'
  const mine = ours.ids.subarray(part.oursStart, part.oursStart + part.oursCount)
  const other = theirs.ids.subarray(part.theirsStart, part.theirsStart + part.theirsCount)
  const changes = diffLines(mine, other, distinct)
  if (changes === undefined) return 'unclear'
  return changes.length === 0 ? 'same' : 'conflict'
}

function isBinary(content: Buffer): boolean {
  return content.subarray(0, binaryProbe).includes(0)
}

/**
 * Merges the changes of two sides to a text, to the byte as git does by default (`ll_xdl_merge` as `ort` calls it:
 * histogram diff, level zealous).
 */
export function mergeTexts(base: Buffer, ours: Buffer, theirs: Buffer): MergedText {
  const all = [base, ours, theirs]
  if (all.some((text) => text.length > mostBytes)) return 'unclear'
  if (all.some(isBinary)) return 'conflict'
  const numbers = new LineNumbers()
  const lines = numbers.read(base)
  const sides = {
    base: lines,
    ours: numbers.readLike(ours, base, lines),
    theirs: numbers.readLike(theirs, base, lines),
  }
  const mine = diffLines(sides.base.ids, sides.ours.ids, numbers.count)
  const others = diffLines(sides.base.ids, sides.theirs.ids, numbers.count)
  if (!mine || !others) return 'unclear'
  if (mine.length === 0) return theirs
  if (others.length === 0) return ours
  const parts = combine(mine, others, sides)
  const verdicts = parts
    .filter(({ side }) => side === 'both')
    .map((part) => judge(part, sides, numbers.count))
  // Whether it is clean is git's to say as soon as one part of it is.
  if (verdicts.includes('unclear')) return 'unclear'
  if (verdicts.includes('conflict')) return 'conflict'
  return join(parts, sides, ours, theirs)
}

/** Our text with the parts that are theirs. */
function join(parts: readonly Part[], sides: Sides, ours: Buffer, theirs: Buffer): Buffer {
  const pieces: Buffer[] = []
  let at = 0
  for (const { side, oursStart, oursCount, theirsStart, theirsCount } of parts) {
    if (side !== 'theirs') continue
    const { starts } = sides.ours
    pieces.push(ours.subarray(starts[at], starts[oursStart]))
    const from = sides.theirs.starts
    pieces.push(theirs.subarray(from[theirsStart], from[theirsStart + theirsCount]))
    at = oursStart + oursCount
  }
  pieces.push(ours.subarray(sides.ours.starts[at]))
  return Buffer.concat(pieces)
}
