import type { CommitStats } from '../types.ts'

const newline = 0x0a
/** git takes content with a NUL in its first bytes for binary (xdiff-interface.c). */
const binaryProbe = 8000
/** Longer files are left to git: each line costs some bytes of memory here. */
const mostBytes = 1024 * 1024

function isBinary(content: Buffer): boolean {
  return content.subarray(0, binaryProbe).includes(0)
}

function countLines(content: Buffer): number {
  let count = 0
  for (let at = content.indexOf(newline); at >= 0; at = content.indexOf(newline, at + 1)) count += 1
  return content.length > 0 && content.at(-1) !== newline ? count + 1 : count
}

/** Lines with their ends: one without differs from one with it. */
function linesOf(content: Buffer): string[] {
  return content.toString('latin1').match(/[^\n]*\n|[^\n]+$/g) ?? []
}

interface Counts {
  readonly additions: number
  readonly deletions: number
}

/**
 * The lines that a change adds and deletes where there can be no two opinions: once equal lines at both
 * ends are set aside, as every diff does, the rest has nothing in common. Else undefined.
 */
function countChange(before: Buffer, after: Buffer): Counts | undefined {
  if (isBinary(before) || isBinary(after)) return { additions: 0, deletions: 0 }
  if (before.length > mostBytes || after.length > mostBytes) return undefined
  const [old, fresh] = [linesOf(before), linesOf(after)]
  const shorter = Math.min(old.length, fresh.length)
  let start = 0
  while (start < shorter && old[start] === fresh[start]) start += 1
  let end = 0
  while (end < shorter - start && old.at(-1 - end) === fresh.at(-1 - end)) end += 1
  const gone = new Set(old.slice(start, old.length - end))
  const come = fresh.slice(start, fresh.length - end)
  if (come.some((line) => gone.has(line))) return undefined
  return { additions: come.length, deletions: old.length - end - start }
}

/**
 * What a commit comes to in lines, counted while it is written, so that nobody need start git for it
 * afterwards. Says nothing where git could count in another way: renames, and changes that can be read
 * in more than one way.
 */
export class ChangeStats {
  readonly #paths = new Set<string>()
  #files = 0
  #additions = 0
  #deletions = 0
  #created = false
  #deleted = false
  #isSure = true

  created(path: string, content: Buffer): void {
    this.#created = true
    this.#count(path, { additions: isBinary(content) ? 0 : countLines(content), deletions: 0 })
  }

  deleted(path: string, content: Buffer): void {
    this.#deleted = true
    this.#count(path, { additions: 0, deletions: isBinary(content) ? 0 : countLines(content) })
  }

  updated(path: string, before: Buffer, after: Buffer): void {
    if (!before.equals(after)) this.#count(path, countChange(before, after))
    else this.#paths.add(path)
  }

  /** Something happened that is not counted here. */
  unsure(): void {
    this.#isSure = false
  }

  /** Whether it is of use to go on counting. */
  get isSure(): boolean {
    // A new file may be the one that was deleted, under another name.
    return this.#isSure && !(this.#created && this.#deleted)
  }

  result(): CommitStats | undefined {
    if (!this.isSure) return undefined
    return { additions: this.#additions, deletions: this.#deletions, files: this.#files }
  }

  #count(path: string, counts: Counts | undefined): void {
    // The second change of a file starts from what the first one made.
    if (counts === undefined || this.#paths.has(path)) this.#isSure = false
    this.#paths.add(path)
    this.#files += 1
    this.#additions += counts?.additions ?? 0
    this.#deletions += counts?.deletions ?? 0
  }
}
