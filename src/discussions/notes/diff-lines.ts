import { createHash } from 'node:crypto'
import type { AskedPosition } from './kind.ts'
import type { Position } from './noteable.ts'

/** Where a line stands on both sides of a patch: for an added line `oldLine` is that of the line before it. */
export interface LinePlace {
  readonly oldLine: number
  readonly newLine: number
}

interface Hunk {
  readonly oldStart: number
  readonly oldCount: number
  readonly newStart: number
  readonly newCount: number
}

function hunkOf(header: string): Hunk | undefined {
  const found = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(header)
  if (!found) return undefined
  const [, oldStart, oldCount = '1', newStart, newCount = '1'] = found
  return {
    oldStart: Number(oldStart),
    oldCount: Number(oldCount),
    newStart: Number(newStart),
    newCount: Number(newCount),
  }
}

interface PatchLine {
  readonly mark: '+' | '-' | ' '
  readonly oldLine: number
  readonly newLine: number
}

/** The first line number of a hunk on one side; a side without lines is said to begin before its first one. */
function firstOf(start: number, count: number): number {
  return count === 0 ? start + 1 : start
}

/** Every line of a patch with its place and mark, in order. */
export function patchLines(patch: string): PatchLine[] {
  const found: PatchLine[] = []
  let [oldLine, newLine] = [0, 0]
  for (const line of patch.split('\n')) {
    const hunk = hunkOf(line)
    if (hunk) {
      oldLine = firstOf(hunk.oldStart, hunk.oldCount)
      newLine = firstOf(hunk.newStart, hunk.newCount)
      continue
    }
    const mark = line.charAt(0)
    if (mark !== '+' && mark !== '-' && mark !== ' ') continue
    found.push({ mark, oldLine, newLine })
    oldLine += mark === '+' ? 0 : 1
    newLine += mark === '-' ? 0 : 1
  }
  return found
}

/**
 * The place that a position names: only `newLine` an added line, only `oldLine` a removed one, both an unchanged one,
 * which may stand outside the hunks. Undefined when the patch has no such line.
 */
export function lineOf(
  patch: string,
  oldLine: number | null,
  newLine: number | null,
): LinePlace | undefined {
  if (oldLine === null && newLine === null) return undefined
  for (const line of patchLines(patch)) {
    const isOld = oldLine === null ? line.mark === '+' : line.oldLine === oldLine
    const isNew = newLine === null ? line.mark === '-' : line.newLine === newLine
    const unchanged = oldLine !== null && newLine !== null
    if (isOld && isNew && (!unchanged || line.mark === ' ')) {
      return { oldLine: line.oldLine, newLine: line.newLine }
    }
  }
  if (oldLine === null || newLine === null) return undefined
  return newLine - oldLine === offsetAt(patch, oldLine) ? { oldLine, newLine } : undefined
}

/** How far unchanged lines have moved behind the hunks that end before an old line; undefined inside a hunk. */
export function offsetAt(patch: string, oldLine: number): number | undefined {
  let offset = 0
  for (const header of patch.match(/^@@ .*$/gm) ?? []) {
    const hunk = hunkOf(header)
    if (!hunk) continue
    const begin = firstOf(hunk.oldStart, hunk.oldCount)
    if (oldLine < begin) return offset
    if (oldLine < begin + hunk.oldCount) return undefined
    offset += hunk.newCount - hunk.oldCount
  }
  return offset
}

/** `sha1(path)_<old>_<new>` (docs/contract/B-resolved §11.1). */
export function lineCode(path: string, oldLine: number, newLine: number): string {
  return `${createHash('sha1').update(path).digest('hex')}_${oldLine}_${newLine}`
}

/** The point of an image that a position means, and how large the image was shown. */
export function imagePoint(asked: AskedPosition): Partial<Position> {
  if (asked.position_type !== 'image') return {}
  const { width = null, height = null, x = null, y = null } = asked
  return { width, height, x, y }
}
