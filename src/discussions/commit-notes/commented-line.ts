import { readCommitDiff } from '../../git/diff/diff.ts'
import type { Repo } from '../../git/repo.ts'
import type { Commit } from '../../git/types.ts'
import { imagePoint, type LinePlace, lineCode, lineOf } from '../notes/diff-lines.ts'
import type { AskedPosition } from '../notes/kind.ts'
import type { Position } from '../notes/noteable.ts'

/**
 * The place in a commit's diff that a position names, completed; undefined when the commit did not change that line. Its base
 * is the commit's parent.
 */
export async function findPosition(
  repo: Repo,
  commit: Commit,
  asked: AskedPosition,
): Promise<{ readonly position: Position; readonly lineCode: string } | undefined> {
  const { files } = await readCommitDiff(repo, { id: commit.id })
  const path = asked.new_path ?? asked.old_path
  const file = files.find((each) => each.newPath === path || each.oldPath === path)
  if (!file) return undefined
  const oldLine = asked.old_line ?? null
  const newLine = asked.new_line ?? null
  const isText = (asked.position_type ?? 'text') === 'text'
  const whole: LinePlace = { oldLine: 0, newLine: 0 }
  const place = isText ? lineOf(file.diff, oldLine, newLine) : whole
  if (!place) return undefined
  const base = commit.parentIds[0] ?? null
  return {
    lineCode: lineCode(file.newPath, place.oldLine, place.newLine),
    position: {
      base_sha: base,
      start_sha: base,
      head_sha: commit.id,
      old_path: file.oldPath,
      new_path: file.newPath,
      position_type: asked.position_type ?? 'text',
      old_line: oldLine,
      new_line: newLine,
      line_range: null,
      ...imagePoint(asked),
    },
  }
}
