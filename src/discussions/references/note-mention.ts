import type { Project } from '../../access/subjects.ts'
import type { Ctx } from '../../ctx.ts'
import type { Noteable, NoteScope } from '../notes/noteable.ts'
import { addSystemNoteAt, scopeOf } from '../notes/verbs.ts'
import { insertCrossReference, isCrossReferenced, type Source } from './queries.ts'

/** What mentions something: an issue or merge request with its texts and notes, or a commit. */
export interface MentionSource {
  readonly type: 'Issue' | 'MergeRequest' | 'Commit'
  readonly id: number | null
  readonly iid: number | null
  readonly commitId: string | null
  readonly project: Pick<Project, 'id' | 'full_path'>
}

/** What another note is about, as notes name it. */
export type NoteSource = Omit<MentionSource, 'type' | 'iid'> & { readonly type: NoteScope['type'] }

/** Adds the note `mentioned in …`, unless it is there already, or something mentions itself. */
export async function noteMention(
  ctx: Ctx,
  source: MentionSource,
  target: NoteScope,
): Promise<void> {
  const itself =
    source.type === target.type &&
    (source.id === null
      ? source.commitId === target.commitId && source.project.id === target.projectId
      : source.id === target.id)
  if (itself) return
  const row = sourceRow(source)
  if (await isCrossReferenced(ctx.db, row, target)) return
  const text = `mentioned in ${reference(source, target.projectId)}`
  const note = await addSystemNoteAt(ctx, target, 'cross_reference', text)
  await insertCrossReference(ctx.db, { ...row, note_id: note.id })
}

function sourceRow(source: Omit<MentionSource, 'iid'>): Source {
  return {
    source_type: source.type,
    source_id: source.id,
    source_commit: source.type === 'Commit' ? source.commitId : null,
    source_project_id: source.project.id,
  }
}

/**
 * Adds a system note that names something else, in the caller's transaction: readers who may not see that do not see the
 * note.
 */
export async function addNoteAbout(
  ctx: Ctx,
  noteable: Noteable,
  action: string,
  text: string,
  about: NoteSource,
): Promise<void> {
  const note = await addSystemNoteAt(ctx, scopeOf(noteable), action, text)
  const { type } = about
  if (type === 'Snippet' || type === 'Alert') return
  await insertCrossReference(ctx.db, { ...sourceRow({ ...about, type }), note_id: note.id })
}

/** `merge request !5`; from another project with the path before it. */
function reference({ type, project, iid, commitId }: MentionSource, fromProjectId: number): string {
  const path = fromProjectId === project.id ? '' : project.full_path
  if (type === 'Commit') return `commit ${path === '' ? '' : `${path}@`}${commitId}`
  return type === 'Issue' ? `issue ${path}#${iid}` : `merge request ${path}!${iid}`
}
