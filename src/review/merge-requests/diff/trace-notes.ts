import type { Project } from '../../../access/subjects.ts'
import type { Ctx } from '../../../ctx.ts'
import { lineCode } from '../../../discussions/notes/diff-lines.ts'
import type { Position } from '../../../discussions/notes/noteable.ts'
import {
  listPlacedNotes,
  movePlacedNote,
  type PlacedNote,
} from '../../../discussions/notes/positions.ts'
import { type FileDiff, readDiff } from '../../../git/diff/diff.ts'
import type { Repo } from '../../../git/repo.ts'
import { noteChange } from '../record.ts'
import type { MergeRequestRow, VersionRow } from '../row.ts'
import { tracePosition } from './trace-position.ts'
import type { Snapshot } from './versions.ts'

/** A comment of the version before, and where it stands in the new one: nowhere when its line is gone. */
export interface TracedNote {
  readonly note: PlacedNote
  readonly position: Position | undefined
}

const limits = { expanded: true, files: 3000, lines: 100_000 }

async function filesOf(repo: Repo, from: string, to: string): Promise<readonly FileDiff[]> {
  return from === to ? [] : (await readDiff(repo, { from, to, limits })).files
}

/** Follows the comments of the version before into the new one. Reads git, and nothing when there are none. */
export async function traceNotes(
  ctx: Ctx,
  row: MergeRequestRow,
  latest: VersionRow,
  snapshot: Snapshot,
): Promise<TracedNote[]> {
  const placed = await listPlacedNotes(ctx, row.id)
  const notes = placed.filter(({ position }) => position.head_sha === latest.head_sha)
  if (notes.length === 0) return []
  const repo = ctx.git.open(row.target_project_id)
  const { base, start, head } = snapshot
  const [bases, heads, version] = await Promise.all([
    filesOf(repo, latest.base_sha, base),
    filesOf(repo, latest.head_sha, head),
    filesOf(repo, base, head),
  ])
  const step = { base, start, head, bases, heads, version }
  return notes.map((note) => ({ note, position: tracePosition(note.position, step) }))
}

/** Writes where comments stand now, and says of each thread that lost its line in which version, in the caller's transaction. */
export async function saveTracedNotes(
  ctx: Ctx,
  project: Project,
  row: MergeRequestRow,
  traced: readonly TracedNote[],
  versionNumber: number,
): Promise<void> {
  const outdated = new Set<string>()
  for (const { note, position } of traced) {
    if (!position) {
      outdated.add(note.discussionId)
      continue
    }
    const code = lineCode(position.new_path, position.old_line ?? 0, position.new_line ?? 0)
    await movePlacedNote(ctx, note.id, position, code)
  }
  for (const _ of outdated) {
    const text = `changed this line in version ${versionNumber} of the diff`
    await noteChange(ctx, project, row, 'outdated', text)
  }
}
