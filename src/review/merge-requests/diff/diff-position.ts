import { badRequest } from '../../../base/problem.ts'
import type { Ctx } from '../../../ctx.ts'
import { imagePoint, lineCode, lineOf } from '../../../discussions/notes/diff-lines.ts'
import type { AskedPosition } from '../../../discussions/notes/kind.ts'
import type {
  LineRange,
  LineRangeEnd,
  Noteable,
  Position,
} from '../../../discussions/notes/noteable.ts'
import { type FileDiff, readDiff } from '../../../git/diff/diff.ts'
import { GitError } from '../../../git/error.ts'
import { listVersions } from '../queries.ts'

const misplaced = () =>
  badRequest('Note {:line_code=>["can\'t be blank", "must be a valid line code"]}')

/**
 * Checks that a position names a version of the merge request and a place in its diff, and completes it; 400 when it
 * does not fit (docs/contract/B-resolved §11.1).
 */
export async function placeNote(
  ctx: Ctx,
  noteable: Noteable,
  asked: AskedPosition,
): Promise<{ readonly position: Position; readonly lineCode: string }> {
  const versions = noteable.id === null ? [] : await listVersions(ctx.db, noteable.id)
  const version = versions.find(
    (one) =>
      one.head_sha === asked.head_sha &&
      one.base_sha === asked.base_sha &&
      one.start_sha === asked.start_sha,
  )
  if (!version) throw misplaced()
  const file = await findFile(ctx, noteable, version.base_sha, version.head_sha, asked)
  const position: Position = {
    base_sha: version.base_sha,
    start_sha: version.start_sha,
    head_sha: version.head_sha,
    old_path: file.oldPath,
    new_path: file.newPath,
    position_type: asked.position_type ?? 'text',
    old_line: asked.old_line ?? null,
    new_line: asked.new_line ?? null,
    line_range: readRange(asked.line_range),
    ...imagePoint(asked),
  }
  return { position, lineCode: codeOf(file, position) }
}

async function findFile(
  ctx: Ctx,
  noteable: Noteable,
  from: string,
  to: string,
  asked: AskedPosition,
): Promise<FileDiff> {
  const path = asked.new_path ?? asked.old_path
  if (path === undefined || path === null) throw misplaced()
  const repo = ctx.git.open(noteable.project.id)
  try {
    const { files } = await readDiff(repo, { from, to, limits: { expanded: true, files: 3000 } })
    const file = files.find(
      (one) =>
        (asked.new_path === undefined || asked.new_path === null || one.newPath === path) &&
        (asked.old_path === undefined || asked.old_path === null || one.oldPath === asked.old_path),
    )
    if (file) return file
  } catch (error) {
    if (!(error instanceof GitError)) throw error
  }
  throw misplaced()
}

function codeOf(file: FileDiff, position: Position): string {
  if (position.position_type !== 'text') return lineCode(file.newPath, 0, 0)
  const place = lineOf(file.diff, position.old_line, position.new_line)
  if (!place) throw misplaced()
  return lineCode(file.newPath, place.oldLine, place.newLine)
}

function readRange(raw: unknown): LineRange | null {
  if (typeof raw !== 'object' || raw === null || !('start' in raw) || !('end' in raw)) return null
  const start = readRangeEnd(raw.start)
  const end = readRangeEnd(raw.end)
  return start && end ? { start, end } : null
}

function readRangeEnd(raw: unknown): LineRangeEnd | null {
  if (typeof raw !== 'object' || raw === null) return null
  const fields = raw as Readonly<Record<string, unknown>> // each is checked below
  const text = (name: string) => {
    const value = fields[name]
    return typeof value === 'string' && value.length <= 300 ? value : null
  }
  const line = (name: string) => {
    const value = Number(fields[name] ?? NaN)
    return Number.isSafeInteger(value) && value > 0 ? value : null
  }
  return {
    line_code: text('line_code'),
    type: text('type'),
    old_line: line('old_line'),
    new_line: line('new_line'),
  }
}
