import { offsetAt, patchLines } from '../../../discussions/notes/diff-lines.ts'
import type { Position } from '../../../discussions/notes/noteable.ts'

/** What is needed of a changed file to follow lines through it. */
export interface FilePatch {
  readonly oldPath: string
  readonly newPath: string
  readonly deletedFile: boolean
  readonly diff: string
}

/** The diffs between two versions of a merge request, and the newer version itself. */
export interface VersionStep {
  readonly base: string
  readonly start: string
  readonly head: string
  /** From the older base to the newer one. */
  readonly bases: readonly FilePatch[]
  /** From the older head to the newer one. */
  readonly heads: readonly FilePatch[]
  /** From the newer base to the newer head. */
  readonly version: readonly FilePatch[]
}

interface Place {
  readonly path: string
  readonly line: number
}

/** Where a line of a file is after a change; undefined when it was changed or removed. */
function follow(files: readonly FilePatch[], { path, line }: Place): Place | undefined {
  const file = files.find((one) => one.oldPath === path)
  if (!file) return { path, line }
  const offset = file.deletedFile ? undefined : offsetOf(file.diff, line)
  return offset === undefined ? undefined : { path: file.newPath, line: line + offset }
}

/** How far a line moves: it may also stand unchanged inside a hunk. */
function offsetOf(patch: string, oldLine: number): number | undefined {
  const outside = offsetAt(patch, oldLine)
  if (outside !== undefined) return outside
  const kept = patchLines(patch).find((line) => line.mark === ' ' && line.oldLine === oldLine)
  return kept && kept.newLine - kept.oldLine
}

/**
 * A diff position in the next version, or undefined when its line is gone: then the thread is outdated and stays where
 * it was (docs/contract/B-resolved §11.1). Pictures and whole files move with their file.
 */
export function tracePosition(position: Position, step: VersionStep): Position | undefined {
  const shas = { base_sha: step.base, start_sha: step.start, head_sha: step.head }
  if (position.position_type !== 'text') {
    const same = step.heads.every((file) => file.oldPath !== position.new_path)
    return same ? { ...position, ...shas } : undefined
  }
  const place = position.new_line === null ? traceRemoved(position, step) : traceNew(position, step)
  // A range is known by line codes of the older diff: without them it is the last line alone.
  return place && { ...position, ...shas, ...place, line_range: null }
}

type Traced = Pick<Position, 'old_path' | 'new_path' | 'old_line' | 'new_line'>

function traceNew(position: Position, step: VersionStep): Traced | undefined {
  const at = follow(step.heads, { path: position.new_path, line: position.new_line ?? 0 })
  const file = at && step.version.find((one) => one.newPath === at.path)
  // A file that the version no longer changes has no line to stand at.
  if (!at || !file || file.deletedFile) return undefined
  const paths = { old_path: file.oldPath, new_path: file.newPath }
  const shown = patchLines(file.diff).find((line) => line.mark !== '-' && line.newLine === at.line)
  if (shown?.mark === '+') return { ...paths, old_line: null, new_line: at.line }
  const oldLine = shown?.oldLine ?? oldLineOf(file.diff, at.line)
  return { ...paths, old_line: oldLine, new_line: at.line }
}

/** The old line of an unchanged one outside the hunks. */
function oldLineOf(patch: string, newLine: number): number {
  const before = patchLines(patch).findLast((line) => line.newLine <= newLine)
  if (!before) return newLine
  const next = {
    old: before.oldLine + (before.mark === '+' ? 0 : 1),
    new: before.newLine + (before.mark === '-' ? 0 : 1),
  }
  return newLine - (next.new - next.old)
}

function traceRemoved(position: Position, step: VersionStep): Traced | undefined {
  const at = follow(step.bases, { path: position.old_path, line: position.old_line ?? 0 })
  const file = at && step.version.find((one) => one.oldPath === at.path)
  if (!at || !file) return undefined
  const gone = patchLines(file.diff).some((line) => line.mark === '-' && line.oldLine === at.line)
  if (!gone) return undefined
  return { old_path: file.oldPath, new_path: file.newPath, old_line: at.line, new_line: null }
}
