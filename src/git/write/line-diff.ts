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
    for (let at = 0; at < bytes.length; ) {
      const newline = bytes.indexOf(0x0a, at)
      const end = newline < 0 ? bytes.length : newline + 1
      const line = bytes.toString('latin1', at, end)
      let id = this.#known.get(line)
      if (id === undefined) {
        id = this.#known.size
        this.#known.set(line, id)
      }
      ids.push(id)
      starts.push(end)
      at = end
    }
    return { ids: Int32Array.from(ids), starts: Int32Array.from(starts) }
  }
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

/** A run of changed lines that is being moved, and the run of the other text at the same place. */
class Group {
  start = 0
  end = 0
  readonly #ids: Int32Array
  readonly #changed: Uint8Array

  constructor(ids: Int32Array, changed: Uint8Array) {
    this.#ids = ids
    this.#changed = changed
    while (this.#isChanged(this.end)) this.end += 1
  }

  get isEmpty(): boolean {
    return this.start === this.end
  }

  #isChanged(at: number): boolean {
    return this.#changed[at] === 1
  }

  next(): boolean {
    if (this.end === this.#ids.length) return false
    this.start = this.end + 1
    this.end = this.start
    while (this.#isChanged(this.end)) this.end += 1
    return true
  }

  previous(): void {
    this.end = this.start - 1
    this.start = this.end
    while (this.#isChanged(this.start - 1)) this.start -= 1
  }

  /** Moves down by a line where that says the same, and takes in the group that it meets. */
  slideDown(): boolean {
    if (this.end >= this.#ids.length || this.#ids[this.start] !== this.#ids[this.end]) return false
    this.#changed[this.start] = 0
    this.#changed[this.end] = 1
    this.start += 1
    this.end += 1
    while (this.#isChanged(this.end)) this.end += 1
    return true
  }

  slideUp(): boolean {
    if (this.start === 0 || this.#ids[this.start - 1] !== this.#ids[this.end - 1]) return false
    this.start -= 1
    this.end -= 1
    this.#changed[this.start] = 1
    this.#changed[this.end] = 0
    while (this.#isChanged(this.start - 1)) this.start -= 1
    return true
  }
}

/** Moves groups of changed lines to where git shows them (xdl_change_compact without its heuristic of indents). */
function compact(
  ids: Int32Array,
  changed: Uint8Array,
  otherIds: Int32Array,
  otherChanged: Uint8Array,
): void {
  const group = new Group(ids, changed)
  const other = new Group(otherIds, otherChanged)
  do {
    if (!group.isEmpty) settle(group, other)
    other.next()
  } while (group.next())
}

/** As far down as it goes, or where it meets a change of the other text. */
function settle(group: Group, other: Group): void {
  let [size, earliestEnd, meetsOther] = [0, 0, false]
  do {
    size = group.end - group.start
    while (group.slideUp()) other.previous()
    earliestEnd = group.end
    meetsOther = !other.isEmpty
    while (group.slideDown()) {
      other.next()
      if (!other.isEmpty) meetsOther = true
    }
  } while (size !== group.end - group.start)
  if (group.end === earliestEnd || !meetsOther) return
  while (other.isEmpty) {
    group.slideUp()
    other.previous()
  }
}

/**
 * What changed between two texts, exactly as git's merges see it: histogram diff, groups moved by the rules of xdiff.
 * Undefined where git itself falls back to another algorithm.
 */
export function diffLines(
  old: Int32Array,
  fresh: Int32Array,
  distinct: number,
): LineChange[] | undefined {
  const histogram = new Histogram(old, fresh, distinct)
  if (!histogram.run()) return undefined
  const { oldChanged, newChanged } = histogram
  compact(old, oldChanged, fresh, newChanged)
  compact(fresh, newChanged, old, oldChanged)
  const changes: LineChange[] = []
  for (let [i, j] = [0, 0]; i < old.length || j < fresh.length; i += 1, j += 1) {
    const [oldStart, newStart] = [i, j]
    while (oldChanged[i] === 1) i += 1
    while (newChanged[j] === 1) j += 1
    if (i > oldStart || j > newStart) {
      changes.push({ oldStart, oldCount: i - oldStart, newStart, newCount: j - newStart })
    }
  }
  return changes
}
