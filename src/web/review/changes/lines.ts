import type { DiffLine } from '../../parts/diff.tsx'
import { diffLines } from '../../parts/diff-lines.ts'
import { requestAddress } from '../state.tsx'
import type { HasNotes } from '../threads-data.ts'
import type { ChangedFile, ChangeSet, Draft, FileDiff, Version } from './change-set.ts'

/** A line as addresses name it: `-13` an added one, `12-` a removed one, `12-13` an unchanged one; or the whole file. */
export function lineName({ kind, old, new: now }: DiffLine): string {
  if (kind === 'added') return `-${now}`
  return kind === 'removed' ? `${old}-` : `${old}-${now}`
}

export interface LinePlace {
  readonly old_line: number | null
  readonly new_line: number | null
}

/** The line that a name in an address means; undefined for the whole file, and for what is no name. */
export function placeOf(name: string): LinePlace | undefined {
  const [, old = '', now = ''] = /^(\d{0,9})-(\d{0,9})$/.exec(name) ?? []
  if (old === '' && now === '') return undefined
  const number = (text: string) => (text === '' ? null : Number(text))
  return { old_line: number(old), new_line: number(now) }
}

/** The address of commenting on a line of a file, or of its form as a part of the page. */
export function commentAddress(
  { project, request }: Pick<ChangeSet, 'project' | 'request'>,
  { new_path }: Pick<ChangedFile, 'new_path'>,
  line: DiffLine | 'file',
  what: 'comments' | 'comment_form' = 'comments',
): string {
  const name = line === 'file' ? line : lineName(line)
  return requestAddress(project, request.iid, what, name, new_path)
}

type Position = NonNullable<Draft['position']>

function isOn(position: Position, line: DiffLine): boolean {
  const { old_line: old, new_line: now } = position
  if (line.kind === 'added') return now === line.new && old === null
  if (line.kind === 'removed') return old === line.old && now === null
  return now === null ? false : now === line.new && old !== null
}

/** Where something that was said about a file stands now: below a line, about the whole file, or on an older version. */
export type Standing = 'line' | 'file' | 'outdated'

export function standingOf(position: Position, version: Version | undefined): Standing {
  const isThis =
    version !== undefined &&
    position.head_sha === version.head_commit_sha &&
    position.base_sha === version.base_commit_sha
  if (!isThis) return 'outdated'
  return position.position_type === 'text' ? 'line' : 'file'
}

interface Placed {
  readonly position: Position
}

/** Of some threads or drafts those that stand below a line. */
export function onLine<T extends Placed>(
  all: readonly T[],
  version: Version | undefined,
  line: DiffLine,
): T[] {
  return all.filter(
    ({ position }) => standingOf(position, version) === 'line' && isOn(position, line),
  )
}

export function positionOf(thread: HasNotes): Position | undefined {
  return thread.notes[0]?.position
}

/** Whether a position is in a file. */
export function isIn(position: Position, file: ChangedFile): boolean {
  return position.new_path === file.new_path || position.old_path === file.old_path
}

/** The number by which people know a version: the oldest is 1. */
export function versionNumber(versions: readonly Version[], head: string): number | undefined {
  const at = versions.findIndex((version) => version.head_commit_sha === head)
  return at < 0 ? undefined : versions.length - at
}

/** Lines of the new file by their numbers, as far as a diff shows them. */
export function newLines(diff: FileDiff | undefined): ReadonlyMap<number, string> {
  const lines = diffLines(diff?.diff ?? '')
  const shown = lines.filter(({ kind }) => kind === 'added' || kind === 'same')
  return new Map(shown.map((line) => [line.new, line.text]))
}
