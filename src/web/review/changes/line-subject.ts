import { Problem } from '../../../base/problem.ts'
import type { PageCtx } from '../../page-ctx.ts'
import { type DiffLine, diffLines } from '../../parts/diff-lines.ts'
import type { ProjectData } from '../../project/frame.tsx'
import {
  type ChangedFile,
  type ChangeSet,
  type FileDiff,
  readChangeSet,
  readDiffs,
} from './change-set.ts'
import { lineName } from './lines.ts'

/** A line of a changed file, or the whole file, that somebody wants to say something about. */
export interface LineSubject {
  readonly set: ChangeSet
  readonly file: ChangedFile
  readonly diff: FileDiff | undefined
  /** As addresses name it; `file` for the whole. */
  readonly name: string
  readonly line: DiffLine | undefined
  /** The lines before it in its hunk, nearest last. */
  readonly before: readonly DiffLine[]
}

const absent = () => new Problem('not_found', 404, { message: '404 Line Not Found' })
/** So many lines can be commented on together. */
const MOST_LINES = 50

export async function readLine(
  ctx: PageCtx,
  project: ProjectData,
  {
    iid,
    line: name,
    file: path,
  }: { readonly iid: string; readonly line: string; readonly file: string },
): Promise<LineSubject> {
  const set = await readChangeSet(ctx, project, iid, { w: false })
  const file = set.files.find(({ new_path }) => new_path === path)
  if (!file) throw absent()
  const diff = (await readDiffs(ctx, set, [file])).get(file.new_path)
  const subject = { set, file, diff, name }
  if (name === 'file') return { ...subject, line: undefined, before: [] }
  const lines = diffLines(diff?.diff ?? '')
  const at = lines.findIndex((one) => !isHead(one) && lineName(one) === name)
  const line = lines[at]
  if (!line) throw absent()
  const first = lines.slice(0, at).findLastIndex(isHead) + 1
  return { ...subject, line, before: lines.slice(Math.max(first, at - MOST_LINES), at) }
}

function isHead({ kind }: DiffLine): boolean {
  return kind === 'hunk' || kind === 'note'
}
