import { createHash } from 'node:crypto'
import { readCommitDiff } from '../../git/diff.ts'
import type { Repo } from '../../git/repo.ts'
import type { Commit } from '../../git/types.ts'
import type { Position } from '../notes/noteable.ts'

export interface LineWish {
  readonly path: string
  readonly line: number
  readonly lineType: 'new' | 'old'
}

export interface CommentedLine {
  readonly position: Position
  readonly lineCode: string
}

/** The place of a comment in a commit's diff; undefined when the commit did not change that line. */
export async function findCommentedLine(
  repo: Repo,
  commit: Commit,
  wish: LineWish,
  signal?: AbortSignal,
): Promise<CommentedLine | undefined> {
  const { files } = await readCommitDiff(repo, { id: commit.id }, signal)
  const file = files.find((each) => each.newPath === wish.path)
  const line = file && changedLines(file.diff).find((each) => isMeant(each, wish))
  if (!file || !line) return undefined
  const base = commit.parentIds[0] ?? null
  return {
    lineCode: lineCode(file.newPath, line.old, line.new),
    position: {
      base_sha: base,
      start_sha: base,
      head_sha: commit.id,
      old_path: file.oldPath,
      new_path: file.newPath,
      position_type: 'text',
      old_line: line.type === 'old' ? line.old : null,
      new_line: line.type === 'new' ? line.new : null,
      line_range: null,
    },
  }
}

/** What names a line of a diff to clients: the path's SHA-1 and both numbers. */
function lineCode(path: string, oldLine: number, newLine: number): string {
  return `${createHash('sha1').update(path).digest('hex')}_${oldLine}_${newLine}`
}

interface ChangedLine {
  readonly type: 'new' | 'old'
  /** Numbers from 1: of the line itself on its side, of the next line on the other. */
  readonly old: number
  readonly new: number
}

function isMeant(line: ChangedLine, { lineType, line: number }: LineWish): boolean {
  return line.type === lineType && line[lineType] === number
}

/** The added and removed lines of a patch that starts at `@@`. */
export function changedLines(patch: string): ChangedLine[] {
  const found: ChangedLine[] = []
  let oldLine = 0
  let newLine = 0
  for (const text of patch.split('\n')) {
    const [, oldStart, newStart] = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(text) ?? []
    if (oldStart !== undefined && newStart !== undefined) {
      oldLine = Number(oldStart)
      newLine = Number(newStart)
    } else if (text.startsWith('+')) {
      found.push({ type: 'new', old: oldLine, new: newLine })
      newLine += 1
    } else if (text.startsWith('-')) {
      found.push({ type: 'old', old: oldLine, new: newLine })
      oldLine += 1
    } else if (text.startsWith(' ')) {
      oldLine += 1
      newLine += 1
    }
  }
  return found
}
