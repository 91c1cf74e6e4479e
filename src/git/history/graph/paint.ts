import type { History } from './history.ts'
import { CommitQueue } from './queue.ts'

const queued = 128

/**
 * Passes flags from commits to their ancestors, newest first by corrected date: when a commit is
 * visited all its descendants were, so its flags are final. Stops when every waiting commit has all
 * bits of `dull`.
 * @param visit gives the flags to hand to the parents.
 */
export function paint(
  history: History,
  starts: readonly (readonly [position: number, flags: number])[],
  dull: number,
  visit: (position: number, flags: number) => number,
): void {
  const flags = new Uint8Array(history.size)
  const queue = new CommitQueue()
  let lively = 0
  const isDull = (value: number) => (value & dull) === dull
  const mark = (position: number, add: number) => {
    const before = flags[position] ?? 0
    const after = before | add | queued
    flags[position] = after
    if (!(before & queued)) {
      queue.push(position, history.levelOf(position))
      if (!isDull(after)) lively += 1
    } else if (!isDull(before) && isDull(after)) lively -= 1
  }
  for (const [position, add] of starts) mark(position, add)
  while (lively > 0) {
    const position = queue.pop()
    const value = (flags[position] ?? 0) & ~queued
    if (!isDull(value)) lively -= 1
    const pass = visit(position, value)
    for (let n = 0, p = history.parent(position, 0); p >= 0; p = history.parent(position, n)) {
      mark(p, pass)
      n += 1
    }
  }
}

const wanted = 1
const hidden = 2

/** Marks what the excluded commits hide of the history of the included ones (`a..b`). */
export function hiddenFrom(
  history: History,
  include: readonly number[],
  exclude: readonly number[],
): Uint8Array {
  const marks = new Uint8Array(history.size)
  const starts = [
    ...include.map((position) => [position, wanted] as const),
    ...exclude.map((position) => [position, hidden] as const),
  ]
  // What waits when only hidden commits are left was handed the flag but is never visited.
  for (const position of exclude) marks[position] = 1
  paint(history, starts, hidden, (position, flags) => {
    if (flags & hidden) {
      marks[position] = 1
      for (let n = 0, p = history.parent(position, 0); p >= 0; p = history.parent(position, n)) {
        marks[p] = 1
        n += 1
      }
    }
    return flags
  })
  return marks
}

const one = 1
const other = 2
const stale = 4

/** The best common ancestors of one commit and any of the others, newest first. */
export function mergeBases(history: History, first: number, others: readonly number[]): number[] {
  const found: number[] = []
  const starts = [[first, one] as const, ...others.map((each) => [each, other] as const)]
  paint(history, starts, stale, (position, flags) => {
    const both = (flags & (one | other)) === (one | other)
    if (both && !(flags & stale)) found.push(position)
    return both ? flags | stale : flags
  })
  return found.sort((a, b) => history.dateOf(b) - history.dateOf(a))
}

/** Of several commits those that no other one of them contains, each once. */
function independent(history: History, positions: readonly number[]): number[] {
  const distinct = [...new Set(positions)]
  return distinct.filter(
    (each) => !distinct.some((tip) => tip !== each && isAncestor(history, each, tip)),
  )
}

/** The best common ancestors of all commits at once (`merge-base --octopus`). */
export function octopusBases(history: History, positions: readonly number[]): number[] {
  const [first, ...rest] = positions
  let bases = first === undefined ? [] : [first]
  for (const next of rest) {
    bases = bases.flatMap((base) => mergeBases(history, next, [base]))
  }
  return independent(history, bases)
}

/** How many commits only the first has, and how many only the second. */
export function aheadBehind(
  history: History,
  first: number,
  second: number,
): { ahead: number; behind: number } {
  let ahead = 0
  let behind = 0
  const starts = [[first, one] as const, [second, other] as const]
  paint(history, starts, one | other, (_position, flags) => {
    if (flags === one) ahead += 1
    else if (flags === other) behind += 1
    return flags
  })
  return { ahead, behind }
}

/** Whether the first commit is the second or one of its ancestors. */
export function isAncestor(history: History, ancestor: number, descendant: number): boolean {
  return containing(history, ancestor, [descendant]).length > 0
}

const unknown = 0
const contains = 1
const lacks = 2

/** Those of the tips whose history contains the commit. */
export function containing(history: History, commit: number, tips: readonly number[]): number[] {
  const state = new Uint8Array(history.size)
  const level = history.levelOf(commit)
  state[commit] = contains
  const judge = (tip: number): boolean => {
    const stack = [tip]
    for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
      if (state[at] !== unknown || history.levelOf(at) <= level) {
        // Nothing as old as the commit, except itself, can descend from it.
        if (state[at] === unknown) state[at] = lacks
        stack.pop()
        continue
      }
      const next = decide(history, at, level, state)
      if (next >= 0) stack.push(next)
      else stack.pop()
    }
    return state[tip] === contains
  }
  return tips.filter(judge)
}

/** Decides a commit from its parents, or names the parent that has to be looked at first. */
function decide(history: History, at: number, level: number, state: Uint8Array): number {
  let pending = -1
  for (let n = 0, p = history.parent(at, 0); p >= 0; p = history.parent(at, n)) {
    if (state[p] === contains) {
      state[at] = contains
      return -1
    }
    if (state[p] === unknown && history.levelOf(p) > level) pending = p
    n += 1
  }
  if (pending < 0) state[at] = lacks
  return pending
}
