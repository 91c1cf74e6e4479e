/** A run of lines of one text that stands in the place of a run of lines of the other; either may be empty. */
export interface LineChange {
  readonly oldStart: number
  readonly oldCount: number
  readonly newStart: number
  readonly newCount: number
}

/** The lines of a text, each with its end, as numbers that are the same for the same line. */
export interface Lines {
  readonly ids: Int32Array
  /** Where each line starts in the bytes, and after them where the last one ends. */
  readonly starts: Int32Array
}

/** Numbers lines, so that equal lines of all texts that pass through it have equal numbers. */
export class LineNumbers {
  readonly #known = new Map<string, number>()

  get count(): number {
    return this.#known.size
  }

  read(bytes: Buffer): Lines {
    const ids: number[] = []
    const starts: number[] = [0]
    this.#readInto(bytes, 0, bytes.length, ids, starts)
    return { ids: Int32Array.from(ids), starts: Int32Array.from(starts) }
  }

  /** As `read`, of a text that is mostly the same as another: what is equal at both ends is not read again. */
  readLike(bytes: Buffer, other: Buffer, lines: Lines): Lines {
    const { ids, starts } = lines
    const place = lastStart(starts, commonStart(bytes, other))
    // A last line without an end may go on here.
    const isOpen = place === ids.length && other.at(-1) !== newline
    const head = isOpen ? Math.max(0, place - 1) : place
    const from = starts[head] ?? 0
    const end = commonEnd(bytes, other, Math.min(bytes.length, other.length) - from)
    // A line of the end must begin behind a newline that both have.
    const tail = lastStart(starts, other.length - end) + 1
    const shift = bytes.length - other.length
    const to = tail < ids.length ? (starts[tail] ?? 0) + shift : bytes.length
    const freshIds: number[] = []
    const freshStarts: number[] = []
    this.#readInto(bytes, from, to, freshIds, freshStarts)
    const tailStarts = tail < ids.length ? starts.subarray(tail + 1) : starts.subarray(0, 0)
    return {
      ids: joined(ids.subarray(0, head), freshIds, ids.subarray(tail)),
      starts: joined(
        starts.subarray(0, head + 1),
        freshStarts,
        tailStarts.map((at) => at + shift),
      ),
    }
  }

  #readInto(bytes: Buffer, from: number, to: number, ids: number[], starts: number[]): void {
    if (from === to) return
    const lines = bytes.toString('latin1', from, to).split('\n')
    const last = lines.pop() ?? ''
    let at = from
    for (const line of lines) {
      at += line.length + 1
      ids.push(this.#number(line))
      starts.push(at)
    }
    if (last === '') return
    // Without an end it is another line than with one.
    ids.push(this.#number(`\n${last}`))
    starts.push(to)
  }

  #number(line: string): number {
    const known = this.#known.get(line)
    if (known !== undefined) return known
    const id = this.#known.size
    this.#known.set(line, id)
    return id
  }
}

function joined(head: Int32Array, middle: readonly number[], tail: Int32Array): Int32Array {
  const all = new Int32Array(head.length + middle.length + tail.length)
  all.set(head)
  all.set(middle, head.length)
  all.set(tail, head.length + middle.length)
  return all
}

const newline = 0x0a
const compared = 4096

/** How many bytes two texts have in common at their start. */
function commonStart(one: Buffer, other: Buffer): number {
  const most = Math.min(one.length, other.length)
  let at = 0
  while (at + compared <= most && one.compare(other, at, at + compared, at, at + compared) === 0) {
    at += compared
  }
  while (at < most && one[at] === other[at]) at += 1
  return at
}

/** How many bytes they have in common at their end, of at most so many. */
function commonEnd(one: Buffer, other: Buffer, most: number): number {
  let size = 0
  const isNextEqual = (more: number) => {
    const [a, b] = [one.length - size - more, other.length - size - more]
    return one.compare(other, b, b + more, a, a + more) === 0
  }
  while (size + compared <= most && isNextEqual(compared)) size += compared
  while (size < most && one[one.length - size - 1] === other[other.length - size - 1]) size += 1
  return size
}

/** The last line that starts at a place or before. */
function lastStart(starts: Int32Array, place: number): number {
  let [low, high] = [0, starts.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((starts[middle] ?? 0) <= place) low = middle
    else high = middle - 1
  }
  return low
}

/** Lines that are there more often are no help in telling what belongs together (xhistogram.c). */
const longestChain = 64

interface Region {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

/** The best run of common lines so far, and what the next one has to be better than. */
interface Search {
  best: Region | undefined
  length: number
  rarest: number
  /** Whether there is any common line. */
  common: boolean
}

/**
 * Marks the lines that changed as git's histogram diff does (xdiff/xhistogram.c): around the rarest lines that both
 * texts have, and again on both sides of them. All ends are exclusive.
 */
class Histogram {
  readonly #old: Int32Array
  readonly #new: Int32Array
  readonly oldChanged: Uint8Array
  readonly newChanged: Uint8Array
  /** Of the region at hand: where a line is first in the old text (plus one), and how often. */
  readonly #first: Int32Array
  readonly #count: Int32Array
  /** Where the same line is next in the region (plus one); 0: nowhere. */
  readonly #next: Int32Array

  constructor(old: Int32Array, fresh: Int32Array, distinct: number) {
    this.#old = old
    this.#new = fresh
    this.oldChanged = new Uint8Array(old.length)
    this.newChanged = new Uint8Array(fresh.length)
    this.#first = new Int32Array(distinct)
    this.#count = new Int32Array(distinct)
    this.#next = new Int32Array(old.length)
  }

  /** False when git would turn to another algorithm here. */
  run(): boolean {
    const waiting: Region[] = [
      { oldStart: 0, oldEnd: this.#old.length, newStart: 0, newEnd: this.#new.length },
    ]
    for (let region = waiting.pop(); region; region = waiting.pop()) {
      const { oldStart, oldEnd, newStart, newEnd } = region
      if (oldStart === oldEnd || newStart === newEnd) {
        this.#markAll(region)
        continue
      }
      const common = this.#findCommon(region)
      if (common === 'unclear') return false
      if (common === 'none') {
        this.#markAll(region)
        continue
      }
      waiting.push({ oldStart, oldEnd: common.oldStart, newStart, newEnd: common.newStart })
      waiting.push({ oldStart: common.oldEnd, oldEnd, newStart: common.newEnd, newEnd })
    }
    return true
  }

  #markAll({ oldStart, oldEnd, newStart, newEnd }: Region): void {
    this.oldChanged.fill(1, oldStart, oldEnd)
    this.newChanged.fill(1, newStart, newEnd)
  }

  /** The run of common lines of which the rarest is rarest, and the longest of those. */
  #findCommon(region: Region): Region | 'none' | 'unclear' {
    const { oldStart, oldEnd, newStart, newEnd } = region
    this.#index(oldStart, oldEnd)
    const search: Search = { best: undefined, length: 1, rarest: longestChain + 1, common: false }
    for (let at = newStart; at < newEnd; ) at = this.#tryAt(at, region, search)
    for (let at = oldStart; at < oldEnd; at += 1) {
      this.#first[this.#old[at] ?? 0] = 0
      this.#count[this.#old[at] ?? 0] = 0
    }
    if (search.common && search.rarest > longestChain) return 'unclear'
    return search.best ?? 'none'
  }

  #index(start: number, end: number): void {
    for (let at = end - 1; at >= start; at -= 1) {
      const line = this.#old[at] ?? 0
      this.#next[at] = this.#first[line] ?? 0
      this.#first[line] = at + 1
      this.#count[line] = (this.#count[line] ?? 0) + 1
    }
  }

  /** Looks at every place where one new line is in the old text; gives the next line worth a look. */
  #tryAt(at: number, region: Region, search: Search): number {
    const line = this.#new[at] ?? 0
    let old = (this.#first[line] ?? 0) - 1
    let next = at + 1
    if (old < 0) return next
    search.common = true
    if ((this.#count[line] ?? 0) > search.rarest) return next
    while (old >= 0) {
      const run = this.#extend(old, at, region)
      next = Math.max(next, run.newEnd)
      if (run.oldEnd - run.oldStart > search.length || run.rarest < search.rarest) {
        search.best = run
        search.length = run.oldEnd - run.oldStart
        search.rarest = run.rarest
      }
      do old = (this.#next[old] ?? 0) - 1
      while (old >= 0 && old < run.oldEnd)
    }
    return next
  }

  /** All equal lines around a pair of equal lines, and how often the rarest of them is there. */
  #extend(old: number, fresh: number, within: Region): Region & { readonly rarest: number } {
    const [olds, news] = [this.#old, this.#new]
    let [oldStart, newStart, oldEnd, newEnd] = [old, fresh, old + 1, fresh + 1]
    let rarest = this.#countAt(old)
    while (
      oldStart > within.oldStart &&
      newStart > within.newStart &&
      olds[oldStart - 1] === news[newStart - 1]
    ) {
      oldStart -= 1
      newStart -= 1
      if (rarest > 1) rarest = Math.min(rarest, this.#countAt(oldStart))
    }
    while (oldEnd < within.oldEnd && newEnd < within.newEnd && olds[oldEnd] === news[newEnd]) {
      if (rarest > 1) rarest = Math.min(rarest, this.#countAt(oldEnd))
      oldEnd += 1
      newEnd += 1
    }
    return { oldStart, oldEnd, newStart, newEnd, rarest }
  }

  #countAt(old: number): number {
    return this.#count[this.#old[old] ?? 0] ?? 0
  }
}

/**
 * How many lines changed in each gap between the lines that did not: before the first of those, between each two, and
 * after the last. Both texts have the same number of gaps.
 */
function gapsOf(changed: Uint8Array): number[] {
  const gaps = [0]
  for (const flag of changed) {
    if (flag === 1) gaps[gaps.length - 1] = (gaps.at(-1) ?? 0) + 1
    else gaps.push(0)
  }
  return gaps
}

/** A run of changed lines: the gap that it stands in, its first line and how many there are. */
interface Run {
  gap: number
  start: number
  size: number
}

/**
 * Moves runs of changed lines to where git shows them. A run can go up by a line that equals its last one, and down by
 * a line that equals its first, and takes in the run that it meets there. It goes as far down as it can, but no further
 * than the last place where the other text has changed too.
 */
function alignRuns(ids: Int32Array, gaps: number[], otherGaps: readonly number[]): void {
  const run: Run = { gap: 0, start: 0, size: 0 }
  for (; run.gap < gaps.length; run.gap += 1, run.start += run.size + 1) {
    run.size = gaps[run.gap] ?? 0
    if (run.size === 0) continue
    const highest = slide(ids, gaps, run)
    let resting = run.gap
    while (resting > highest && otherGaps[resting] === 0) resting -= 1
    // Nobody else's change is on the way: as far down as it goes.
    if (otherGaps[resting] === 0) continue
    gaps[run.gap] = 0
    run.start -= run.gap - resting
    run.gap = resting
    gaps[resting] = run.size
  }
}

/** Moves a run up and down again as far as it goes, until it meets no other run; gives the highest gap it was in. */
function slide(ids: Int32Array, gaps: number[], run: Run): number {
  for (;;) {
    const { size } = run
    while (run.gap > 0 && ids[run.start - 1] === ids[run.start + run.size - 1]) {
      const met = gaps[run.gap - 1] ?? 0
      step(gaps, run, run.gap - 1, met)
      run.start -= met + 1
    }
    const highest = run.gap
    while (run.gap < gaps.length - 1 && ids[run.start] === ids[run.start + run.size]) {
      step(gaps, run, run.gap + 1, gaps[run.gap + 1] ?? 0)
      run.start += 1
    }
    if (run.size === size) return highest
  }
}

function step(gaps: number[], run: Run, to: number, met: number): void {
  gaps[run.gap] = 0
  run.gap = to
  run.size += met
  gaps[to] = run.size
}

/**
 * What changed between two texts, exactly as git's merges see it. Undefined where git itself falls back to another
 * algorithm.
 */
export function diffLines(
  old: Int32Array,
  fresh: Int32Array,
  distinct: number,
): LineChange[] | undefined {
  const histogram = new Histogram(old, fresh, distinct)
  if (!histogram.run()) return undefined
  const oldGaps = gapsOf(histogram.oldChanged)
  const newGaps = gapsOf(histogram.newChanged)
  alignRuns(old, oldGaps, newGaps)
  alignRuns(fresh, newGaps, oldGaps)
  const changes: LineChange[] = []
  let [oldStart, newStart] = [0, 0]
  for (const [gap, oldCount] of oldGaps.entries()) {
    const newCount = newGaps[gap] ?? 0
    if (oldCount > 0 || newCount > 0) changes.push({ oldStart, oldCount, newStart, newCount })
    oldStart += oldCount + 1
    newStart += newCount + 1
  }
  return changes
}
